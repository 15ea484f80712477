/** How many jobs may wait here for a slot: what the slots consume in a quarter of a second. */

const WINDOW_MS = 250;
/** Before so much time has passed, a rate says nothing. */
const LEAST_MS = 2;
const MOST = 2_000;

export class Appetite {
  readonly #nowMs: () => number;
  /** The window before, and the one that runs. */
  #before = { count: 0, ms: 0 };
  #count = 0;
  #since: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** A handler has started. */
  consumed(): void {
    this.#roll();
    this.#count += 1;
  }

  get jobs(): number {
    const passedMs = this.#roll();
    const ms = passedMs + this.#before.ms;
    if (ms < LEAST_MS) return 0;
    return Math.min(MOST, Math.floor(((this.#count + this.#before.count) * WINDOW_MS) / ms));
  }

  /** How long the present window has been running. After a pause, it begins anew. */
  #roll(): number {
    const now = this.#nowMs();
    const passedMs = this.#since === undefined ? Infinity : now - this.#since;
    if (passedMs < WINDOW_MS) return passedMs;
    this.#before = passedMs < 2 * WINDOW_MS ? { count: this.#count, ms: passedMs } : { count: 0, ms: 0 };
    this.#count = 0;
    this.#since = now;
    return 0;
  }
}
