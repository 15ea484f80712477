/**
 * Counts by the monotonic clock of this process for how long leases were not renewed. The store's clock may be set at any
 * moment, and back again unnoticed, so the instant of a heartbeat only tells it from the one before.
 */

import type { HeldLease } from '../../core/lease.ts';
import type { SchedulerContext } from '../context.ts';

export class LeaseWatch {
  readonly #context: Pick<SchedulerContext, 'store' | 'clock'>;
  readonly #maxGapMs: number;
  /** Each lease as it was last renewed, and since when it was seen so. */
  #seen = new Map<string, { heardAt: number; since: number }>();
  #lastLookAt = Number.NEGATIVE_INFINITY;

  /** Looks further apart than `maxGapMs` do not count as one watch. */
  constructor(context: Pick<SchedulerContext, 'store' | 'clock'>, maxGapMs: number) {
    this.#context = context;
    this.#maxGapMs = maxGapMs;
  }

  /** Begins the watch again, for instance after a failed call. */
  reset(): void {
    this.#seen.clear();
  }

  /**
   * Returns the leases that were seen without a renewal for their whole length: these are over. `nextMs` is when the next one
   * will be if it is not renewed.
   */
  async look(signal: AbortSignal): Promise<{ over: HeldLease[]; nextMs: number }> {
    const { store, clock } = this.#context;
    const sentAt = clock.monotonicMs();
    if (sentAt - this.#lastLookAt > this.#maxGapMs) this.reset();
    this.#lastLookAt = sentAt;
    let leases: HeldLease[];
    try {
      leases = await store.leases(signal);
    } catch (error) {
      this.reset();
      throw error;
    }
    // A renewal may be as late as the answer; that a lease was not renewed is known for the time before the question.
    const answeredAt = clock.monotonicMs();
    const before = this.#seen;
    this.#seen = new Map();
    const over: HeldLease[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const lease of leases) {
      const key = `${lease.workerId}.${lease.jobId}`;
      const known = before.get(key);
      const seen = known?.heardAt === lease.heardAt ? known : { heardAt: lease.heardAt, since: answeredAt };
      this.#seen.set(key, seen);
      const leftMs = seen.since + lease.leaseMs - sentAt;
      if (leftMs <= 0) over.push(lease);
      else nextMs = Math.min(nextMs, leftMs);
    }
    return { over, nextMs };
  }
}
