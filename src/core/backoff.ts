import type { Backoff } from './job.ts';

/** The wait before the next try after `failures` failures (1 or more). `random` is in [0, 1). */
export function backoffMs(backoff: Backoff, failures: number, random: number): number {
  if (backoff.type === 'none') return 0;
  const grown = backoff.type === 'fixed' ? backoff.baseMs : backoff.baseMs * backoff.factor ** (failures - 1);
  const delay = Math.min(grown, backoff.capMs);
  const spread = 1 + backoff.jitter * (2 * random - 1);
  return Math.round(Math.min(delay * spread, backoff.capMs));
}
