/** How many lines of schedules one transaction takes on. */

import { isRowError, isWorkronError } from '../core/error.ts';
import type { Store } from '../store/store.ts';

/** Rows of the ledger per transaction, and lines where others can go on meanwhile. */
export const BATCH = 1_000;
/** Where a store has one hand for all, heartbeats and claims wait until a piece is written. */
const EXCLUSIVE_LINES = 200;

/** Halved when a piece fails, until what cannot be written stands alone; doubled when one is written. */
export class AdaptiveBatch {
  readonly #most: number;
  #lines: number;

  constructor({ exclusive }: Pick<Store, 'exclusive'>) {
    this.#most = exclusive ? EXCLUSIVE_LINES : BATCH;
    this.#lines = this.#most;
  }

  /** What `take` answers. `undefined`: it failed because of what it would have written, and is to be asked for less. */
  async attempt<T>(take: (lines: number) => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    try {
      const answer = await take(this.#lines);
      this.#lines = Math.min(this.#most, this.#lines * 2);
      return answer;
    } catch (error) {
      // A schedule that would never fire is refused as a whole: fewer lines do not help.
      const isRefused = !isRowError(error) || isWorkronError(error, 'schedule_invalid');
      if (isRefused || signal.aborted || this.#lines === 1) {
        this.#lines = 1;
        throw error;
      }
      this.#lines = Math.ceil(this.#lines / 2);
      return undefined;
    }
  }
}
