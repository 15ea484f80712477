import type { Random } from '../../core/clock.ts';

const FIRST_MS = 100;
const MAX_MS = 5_000;

/** Delays that grow with each failure, partly random so that workers do not return at the same time. */
export class RetryBackoff {
  readonly #random: Random;
  #failures = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Records a failure and returns how long to wait. */
  failed(): number {
    const grown = Math.min(FIRST_MS * 2 ** this.#failures, MAX_MS);
    this.#failures += 1;
    return grown * (0.5 + 0.5 * this.#random());
  }

  /** True if the last failure was the first in a row, which is worth a log line. */
  get isNew(): boolean {
    return this.#failures === 1;
  }
}
