/** Delays before a retry. */

import type { Backoff } from './job.ts';

const MIN_DELAY_MS = 5_000;
/** Less than the default catch-up window, so that a schedule that is fixed within the hour still runs. */
const MAX_DELAY_MS = 15 * 60_000;

/** The delay before a job's next attempt after `failures` failures (1 or more). `random` is in [0, 1). */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  if (backoff.type === 'none') return 0;
  const grown = backoff.type === 'fixed' ? backoff.baseMs : backoff.baseMs * backoff.factor ** (failures - 1);
  const delay = Math.min(grown, backoff.capMs);
  const spread = 1 + backoff.jitter * (2 * random - 1);
  return Math.round(Math.min(delay * spread, backoff.capMs));
}

/** The delay before a postponed line or notice is tried again: as long as it is late now, within bounds. So delays double. */
export function retryDelay(lateMs: number): number {
  return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, lateMs));
}
