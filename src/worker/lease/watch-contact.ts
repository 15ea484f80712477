/** Without an answered heartbeat for too long, what runs must be gone before the lease is. */

import type { Clock } from '../../core/clock.ts';
import { monotonicMs } from '../time/monotonic.ts';
import type { Lease } from './lease.ts';

export interface ContactOptions {
  lease: Lease;
  clock: Clock;
  heartbeatMs: () => number;
  /** Called again and again while there is no contact. */
  onCutOff: () => void;
}

/** Resolves when `signal` aborts. */
export async function watchContact(options: ContactOptions, signal: AbortSignal): Promise<void> {
  const { lease, clock, onCutOff } = options;
  let dueAt = monotonicMs();
  while (!signal.aborted) {
    const heartbeatMs = options.heartbeatMs();
    const leftMs = lease.cutOffInMs;
    // Whoever was kept from looking was kept from asking too: only an answer that does not come now is a sign.
    const late = monotonicMs() - dueAt > heartbeatMs / 2;
    if (leftMs <= 0 && !late) onCutOff();
    const waitMs = leftMs > 0 ? leftMs : heartbeatMs;
    dueAt = monotonicMs() + waitMs;
    await clock.sleep(waitMs, signal);
  }
}
