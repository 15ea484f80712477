/** How many unfinished jobs there are in each state, counted now and then for those who watch. */

import type { LiveCounts } from '../api/event.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';

/** Counting may take this part of the time at most: with millions of jobs that wait, it is done less often. */
const SHARE = 0.1;

export class LiveCounter {
  readonly #scheduler: Scheduler;
  readonly #signal: AbortSignal;
  /** Not counted again before, by the process's own clock. */
  #nextAt = 0;

  constructor(scheduler: Scheduler, signal: AbortSignal) {
    this.#scheduler = scheduler;
    this.#signal = signal;
  }

  /** How long to wait before the next count. */
  get restMs(): number {
    return Math.max(0, this.#nextAt - performance.now());
  }

  /** `undefined` where the store does not answer: a hint without counts is still a hint. */
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
