/** The proof of life behind `/health`: by when each background loop must have begun another round. */

import type { Clock } from '../core/clock.ts';

/** A round may wait for a store that is away; queries give up well within this. */
const PATIENCE_MS = 60_000;

export class Rounds {
  readonly #clock: Clock;
  readonly #due = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A round has begun. */
  begin(name: string, everyMs: number): void {
    this.#expect(name, 2 * everyMs);
  }

  /** The round is over, and the next is to begin in `waitMs`, which may be much longer than the loop's usual wait. */
  rest(name: string, waitMs: number): void {
    this.#expect(name, 2 * waitMs);
  }

  end(name: string): void {
    this.#due.delete(name);
  }

  /** Loops that have not begun a round for too long. */
  stuck(): string[] {
    const now = this.#clock.now();
    return [...this.#due].filter(([, due]) => now > due).map(([name]) => name);
  }

  #expect(name: string, inMs: number): void {
    this.#due.set(name, this.#clock.now() + inMs + PATIENCE_MS);
  }
}
