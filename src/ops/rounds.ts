/** Liveness for `/health`: by when each background loop must begin its next round. */

import type { Clock } from '../core/clock.ts';

/** A round may wait for an unavailable store; queries time out well within this. */
const GRACE_MS = 60_000;

export class Rounds {
  readonly #clock: Clock;
  readonly #due = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that a round has begun. */
  begin(name: string, everyMs: number): void {
    this.#expect(name, 2 * everyMs);
  }

  /** Records that a round has ended and the next begins in `waitMs`, which may be much longer than the usual wait. */
  rest(name: string, waitMs: number): void {
    this.#expect(name, 2 * waitMs);
  }

  end(name: string): void {
    this.#due.delete(name);
  }

  /** Records that loops have ended by an error, and do not come back. */
  died(name: string): void {
    this.#due.set(name, Number.NEGATIVE_INFINITY);
  }

  /** Loops whose next round is overdue, or that have died. */
  stuck(): string[] {
    const now = this.#clock.monotonicMs();
    return [...this.#due].filter(([, due]) => now > due).map(([name]) => name);
  }

  #expect(name: string, inMs: number): void {
    this.#due.set(name, this.#clock.monotonicMs() + inMs + GRACE_MS);
  }
}
