import type { Clock } from '../../src/core/clock.ts';

/** A clock that stands still until a test advances it; sleepers wake when their time has passed. */
export class VirtualClock implements Clock {
  readonly #start: number;
  /** The time that has passed. */
  #passedMs = 0;
  #setByMs = 0;
  #sleepers: { at: number; wake: () => void }[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#start = start;
  }

  /** The number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  now(): number {
    return this.#start + this.#passedMs + this.#setByMs;
  }

  monotonicMs(): number {
    return this.#passedMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || ms <= 0) return resolve();
      const sleeper = { at: this.#passedMs + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      });
    });
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#passedMs += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.at <= this.#passedMs).sort((a, b) => a.at - b.at);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.at > this.#passedMs);
    for (const sleeper of due) sleeper.wake();
  }

  /** Sets the clock forward, or back if `ms` is negative. No time passes: nobody wakes. */
  set(ms: number): void {
    this.#setByMs += ms;
  }
}
