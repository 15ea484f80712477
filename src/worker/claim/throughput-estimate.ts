/** Estimates how many jobs to prefetch: as many as the slots finish in 250 ms of work. */

const WINDOW_MS = 250;
/** The shortest time to compute a rate from: a few empty handlers end before the clock advances. */
const MIN_MS = 2;
/** With fewer ended jobs the rate is unknown. */
const MIN_ENDED = 10;
const MAX_JOBS = 1_000;
/** After a rest of this length, the next jobs may be of another kind. */
const FORGET_AFTER_MS = 5_000;

export class ThroughputEstimate {
  readonly #nowMs: () => number;
  /** The previous window; the fields below belong to the current one. */
  #before = { count: 0, ms: 0 };
  #count = 0;
  #since = 0;
  /** Time without work, which is not counted: a slow claim must not lower the estimate. */
  #restedMs = 0;
  #restsSince: number | undefined = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#forget();
  }

  /** Records that there is something to run. */
  begin(): void {
    if (this.#restsSince === undefined) return;
    const restMs = this.#nowMs() - this.#restsSince;
    this.#restsSince = undefined;
    this.#restedMs += restMs;
    if (restMs > FORGET_AFTER_MS) this.#forget();
  }

  /** Records that a handler has ended. */
  consumed(): void {
    this.begin();
    this.#roll();
    this.#count += 1;
  }

  /** Records that nothing runs and nothing waits. */
  rest(): void {
    this.#restsSince ??= this.#nowMs();
  }

  get jobs(): number {
    const passedMs = this.#roll();
    const count = this.#count + this.#before.count;
    if (count < MIN_ENDED) return 0;
    return Math.min(MAX_JOBS, Math.floor((count * WINDOW_MS) / Math.max(MIN_MS, passedMs + this.#before.ms)));
  }

  /** Returns the age of the current window, after starting a new one if it is over. */
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
