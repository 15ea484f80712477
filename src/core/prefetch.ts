/** Which jobs may be prefetched: claimed before there is a slot for them. */

import type { JobSpec } from './job.ts';
import { type Lane, needsResources } from './lane.ts';

/** True for lanes of handlers without resources or keys: a prefetched job must keep neither from others. */
export function laneMayPrefetch(lane: Lane): boolean {
  return lane.kind !== '' && !needsResources(lane) && !lane.metered;
}

/**
 * True if the job may be prefetched before its first failure, unless it is a suspect: one that came back from a lost worker that had
 * not reported its start. If a worker dies, jobs whose start it did not report
 * count as not started. So a job that must not run twice, or whose last attempt this is, has to start when it is
 * claimed.
 */
export function mayPrefetch({ rerun, maxAttempts }: Pick<JobSpec, 'rerun' | 'maxAttempts'>): boolean {
  return rerun === 'safe' && maxAttempts > 1;
}
