/** How many jobs may wait here for a slot: what the slots consume in a quarter of a second of work. */

const WINDOW_MS = 250;
/** No less is taken for granted: a few empty handlers end before the clock moves. */
const MIN_MS = 2;
/** Before so many have ended, a rate says nothing. */
const MIN_ENDED = 10;
const MOST = 1_000;
/** After a rest of so long, what comes next may be of another kind. */
const FORGET_AFTER_MS = 5_000;

export class ThroughputEstimate {
  readonly #nowMs: () => number;
  /** The window before, and the one that runs. */
  #before = { count: 0, ms: 0 };
  #count = 0;
  #since = 0;
  /** Time spent resting, which does not count: where a claim takes long, the slots are not to blame. */
  #restedMs = 0;
  #restsSince: number | undefined = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#forget();
  }

  /** There is something to run. */
  begin(): void {
    if (this.#restsSince === undefined) return;
    const restMs = this.#nowMs() - this.#restsSince;
    this.#restsSince = undefined;
    this.#restedMs += restMs;
    if (restMs > FORGET_AFTER_MS) this.#forget();
  }

  /** A handler has ended. */
  consumed(): void {
    this.begin();
    this.#roll();
    this.#count += 1;
  }

  /** Nothing runs, and nothing waits here. */
  rest(): void {
    this.#restsSince ??= this.#nowMs();
  }

  get jobs(): number {
    const passedMs = this.#roll();
    const count = this.#count + this.#before.count;
    if (count < MIN_ENDED) return 0;
    return Math.min(MOST, Math.floor((count * WINDOW_MS) / Math.max(MIN_MS, passedMs + this.#before.ms)));
  }

  /** How long the present window has been running. After a window without an end, it begins anew. */
  #roll(): number {
    const passedMs = this.#workedMs() - this.#since;
    if (passedMs < WINDOW_MS) return passedMs;
    this.#before = passedMs < 2 * WINDOW_MS ? { count: this.#count, ms: passedMs } : { count: 0, ms: 0 };
    this.#count = 0;
    this.#since += passedMs;
    return 0;
  }

  #workedMs(): number {
    return (this.#restsSince ?? this.#nowMs()) - this.#restedMs;
  }

  #forget(): void {
    this.#before = { count: 0, ms: 0 };
    this.#count = 0;
    this.#since = this.#workedMs();
  }
}
