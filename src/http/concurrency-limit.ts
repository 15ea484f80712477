import { WorkronError } from '../core/error.ts';
import type { Chunks } from './handler.ts';

/** Limits how many requests of a kind are open at once. */
export class ConcurrencyLimit {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a slot until it is disposed of. Throws `overloaded` if all slots are taken. */
  take(): Disposable {
    if (this.#taken >= this.#max) {
      throw new WorkronError('overloaded', `${this.#max} of these are open already; try again shortly`, {
        retryAfterMs: 2_000,
      });
    }
    this.#taken += 1;
    let held = true;
    return {
      [Symbol.dispose]: () => {
        if (held) this.#taken -= 1;
        held = false;
      },
    };
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
