/** Judges due ticks in transactions whose size adapts to failures. */

import { isRowError, isWorkronError } from '../../core/error.ts';
import type { Judged } from '../../store/schedule-store.ts';
import type { SchedulerContext } from '../context.ts';

/** The number of ledger rows, and of lines on a shared store, that one transaction takes on. */
const BATCH = 1_000;
/** On a store with one writer, heartbeats and claims wait for the transaction. */
const EXCLUSIVE_LINES = 200;

/** The first transaction of a new leader: small enough to be committed before the leader is killed, if that happens often. */
const FIRST_LINES = 10;
const ROWS_PER_LINE = 10;

/** Halves the number of lines when a transaction fails, until the line that cannot be written is alone; then doubles it again. */
export class AdaptiveBatch {
  readonly #context: SchedulerContext;
  readonly #maxLines: number;
  #lines: number;

  constructor(context: SchedulerContext) {
    this.#context = context;
    this.#maxLines = context.store.exclusive ? EXCLUSIVE_LINES : BATCH;
    this.#lines = this.#maxLines;
  }

  /** Makes the next transactions small. They grow as long as they succeed. */
  startSmall(): void {
    this.#lines = Math.min(FIRST_LINES, this.#maxLines);
  }

  /**
   * Calls `judge` with the number of lines and of ledger rows to take on, and reports the ticks that were judged. Returns
   * `'too_large'` if it failed because of one of its lines: call again, with fewer lines.
   */
  async judge<T extends Judged | undefined>(
    judge: (size: { lines: number; limit: number }) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | 'too_large'> {
    try {
      const judged = await judge({ lines: this.#lines, limit: Math.min(BATCH, this.#lines * ROWS_PER_LINE) });
      this.#lines = Math.min(this.#maxLines, this.#lines * 2);
      if (judged !== undefined) report(this.#context, judged);
      return judged;
    } catch (error) {
      // An invalid change is invalid for any number of lines.
      const isShared = !isRowError(error) || isWorkronError(error, 'schedule_invalid');
      if (isShared || signal.aborted || this.#lines === 1) {
        this.#lines = 1;
        throw error;
      }
      this.#lines = Math.ceil(this.#lines / 2);
      return 'too_large';
    }
  }
}

function report({ telemetry, log }: SchedulerContext, { ticks, counts, started, now, failed }: Judged): void {
  telemetry.ticked(ticks, counts);
  telemetry.started(started, now);
  for (const { schedule, error, retryInMs } of failed) {
    if (retryInMs === null) log.error({ schedule, error }, 'could not run a due schedule before it was changed');
    else log.error({ schedule, error, retry_in_ms: retryInMs }, 'could not judge a due schedule; postponed');
  }
}
