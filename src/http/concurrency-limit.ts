import { WorkronError } from '../core/error.ts';

/** A bound on what may be open at once. */
export class ConcurrencyLimit {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes one until disposed, or throws `overloaded` where all are taken. */
  take(): Disposable {
    if (this.#taken >= this.#most) {
      throw new WorkronError('overloaded', `${this.#most} of these are open already; try again shortly`, {
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
