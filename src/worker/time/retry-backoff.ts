import type { Random } from '../../core/clock.ts';

const FIRST_MS = 100;
const MAX_MS = 5_000;

/** Waits that grow from failure to failure, each with a part left to chance so that workers do not come back together. */
export class RetryBackoff {
  readonly #random: Random;
  #failures = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** How long to wait now, after one more failure. */
  failed(): number {
    const grown = Math.min(FIRST_MS * 2 ** this.#failures, MAX_MS);
    this.#failures += 1;
    return grown * (0.5 + 0.5 * this.#random());
  }

  /** Whether the last failure was the first in a row: worth a line in the log. */
  get isNew(): boolean {
    return this.#failures === 1;
  }
}
