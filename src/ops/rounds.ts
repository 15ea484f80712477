/** The proof of life behind `/health`: when each background loop last began a round. */

import type { Clock } from '../core/clock.ts';

/** A round may wait for a store that is away; queries give up well within this. */
const PATIENCE_MS = 60_000;

export class Rounds {
  readonly #clock: Clock;
  readonly #begun = new Map<string, { at: number; everyMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(name: string, everyMs: number): void {
    this.#begun.set(name, { at: this.#clock.now(), everyMs });
  }

  end(name: string): void {
    this.#begun.delete(name);
  }

  /** Loops that have not begun a round for too long. */
  stuck(): string[] {
    const now = this.#clock.now();
    return [...this.#begun].filter(([, { at, everyMs }]) => now - at > 2 * everyMs + PATIENCE_MS).map(([name]) => name);
  }

  names(): string[] {
    return [...this.#begun.keys()];
  }
}
