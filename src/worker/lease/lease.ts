/**
 * The time for which this worker may assume that it still holds its leases. It is counted from when the last answered
 * heartbeat was *sent*, so that it never ends later than the scheduler's own count.
 */

import type { Clock } from '../../core/clock.ts';
import { monotonicMs } from '../../ops/monotonic.ts';

/** Without an answer for this share of the lease the worker counts as cut off; the rest is for stopping jobs. */
const CUT_OFF_SHARE = 2 / 3;
/** How long before the end of the lease nothing may be left, as a share of it. */
const MARGIN_SHARE = 1 / 10;
const MAX_MARGIN_MS = 1_000;

export class Lease {
  readonly #monotonicMs: () => number;
  readonly #renewedElsewhereAt: () => number;
  #renewedAt = 0;
  #lengthMs = 0;

  /** `renewedElsewhereAt` is when the lease keeper sent its last answered renewal. */
  constructor(monotonicMs: () => number, renewedElsewhereAt: () => number = () => 0) {
    this.#monotonicMs = monotonicMs;
    this.#renewedElsewhereAt = renewedElsewhereAt;
  }

  renew(sentAt: number, lengthMs: number): void {
    this.#renewedAt = sentAt;
    this.#lengthMs = lengthMs;
  }

  get lengthMs(): number {
    return this.#lengthMs;
  }

  get isOver(): boolean {
    return this.#remainingMs() <= 0;
  }

  /** The time until the worker counts as cut off; not positive if it does. */
  get cutOffInMs(): number {
    return this.#remainingMs() - this.#lengthMs * (1 - CUT_OFF_SHARE);
  }

  /** The time until nothing that runs may be left. */
  get killInMs(): number {
    return this.#remainingMs() - Math.min(MAX_MARGIN_MS, this.#lengthMs * MARGIN_SHARE);
  }

  #remainingMs(): number {
    const renewedAt = Math.max(this.#renewedAt, this.#renewedElsewhereAt());
    return renewedAt + this.#lengthMs - this.#monotonicMs();
  }
}

interface ContactOptions {
  lease: Lease;
  clock: Clock;
  heartbeatMs: () => number;
  /** Called once per heartbeat interval while there is no contact. */
  onCutOff: () => void;
}

/** Calls `onCutOff` when no heartbeat was answered for too long. Resolves when `signal` aborts. */
export async function watchContact(options: ContactOptions, signal: AbortSignal): Promise<void> {
  const { lease, clock, onCutOff } = options;
  let dueAt = monotonicMs();
  while (!signal.aborted) {
    const heartbeatMs = options.heartbeatMs();
    const leftMs = lease.cutOffInMs;
    // If this loop was blocked, so were heartbeats: contact counts as lost only if the next one fails, too.
    const late = monotonicMs() - dueAt > heartbeatMs / 2;
    if (leftMs <= 0 && !late) onCutOff();
    const waitMs = leftMs > 0 ? leftMs : heartbeatMs;
    dueAt = monotonicMs() + waitMs;
    await clock.sleep(waitMs, signal);
  }
}
