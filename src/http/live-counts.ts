/** Counts unfinished jobs by state for the listeners of the event stream. */

import type { LiveCounts } from '../api/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** The largest share of time that counting may take: with millions of waiting jobs it happens less often. */
const SHARE = 0.1;

export class LiveCounter {
  readonly #scheduler: Scheduler;
  readonly #signal: AbortSignal;
  /** The earliest time of the next count, by `performance.now()`. */
  #nextAt = 0;

  constructor(scheduler: Scheduler, signal: AbortSignal) {
    this.#scheduler = scheduler;
    this.#signal = signal;
  }

  /** The time to wait before the next count. */
  get restMs(): number {
    return Math.max(0, this.#nextAt - performance.now());
  }

  /** Returns `undefined` if the store does not answer: a hint without counts is still useful. */
  async count(): Promise<LiveCounts | undefined> {
    const begun = performance.now();
    try {
      const counts: LiveCounts = { blocked: 0, scheduled: 0, pending: 0, running: 0 };
      for (const queue of await this.#scheduler.queues(this.#signal)) {
        for (const state of ['blocked', 'scheduled', 'pending', 'running'] as const) counts[state] += queue[state];
      }
      return counts;
    } catch {
      return undefined;
    } finally {
      const ended = performance.now();
      this.#nextAt = ended + (ended - begun) * (1 / SHARE - 1);
    }
  }
}
