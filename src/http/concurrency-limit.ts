import { WorkronError } from '../core/error.ts';
import type { Chunks } from './handler.ts';

/** The share of the slots that one caller may take. */
const MAX_SHARE = 4;

/** Limits how many requests of a kind are open at once, in all and, if it is named, for one caller. */
export class ConcurrencyLimit {
  readonly #max: number;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a slot until it is disposed of. Throws `overloaded` if all slots are taken, or all that this caller may have. */
  take(caller?: string): Disposable {
    const own = caller === undefined ? 0 : (this.#takenBy.get(caller) ?? 0);
    const isGreedy = own >= Math.max(1, Math.floor(this.#max / MAX_SHARE));
    if (isGreedy) {
      throw new WorkronError('overloaded', `${own} of these are open at your address already; close some`, {
        retryAfterMs: 2_000,
      });
    }
    if (this.#taken >= this.#max) {
      throw new WorkronError('overloaded', `${this.#max} of these are open already; try again shortly`, {
        retryAfterMs: 2_000,
      });
    }
    this.#taken += 1;
    if (caller !== undefined) this.#takenBy.set(caller, own + 1);
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#giveBack(caller);
        held = false;
      },
    };
  }

  #giveBack(caller: string | undefined): void {
    this.#taken -= 1;
    if (caller === undefined) return;
    const left = (this.#takenBy.get(caller) ?? 1) - 1;
    if (left === 0) this.#takenBy.delete(caller);
    else this.#takenBy.set(caller, left);
  }
}

/** Yields the same chunks and disposes of the slot when the last one is sent, or when the caller wants no more. */
export async function* releaseAfter(slot: Disposable, chunks: Chunks): AsyncGenerator<string | Uint8Array> {
  try {
    yield* chunks;
  } finally {
    slot[Symbol.dispose]();
  }
}
