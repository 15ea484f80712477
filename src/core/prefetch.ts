/** Which jobs may be claimed before there is a slot for them. */

import type { JobSpec } from './job.ts';
import { type Lane, needsResources } from './lane.ts';

/** Whether jobs of this lane may: handlers only, and no resources are kept from others meanwhile. */
export function laneMayPrefetch(lane: Lane): boolean {
  return lane.kind !== '' && !needsResources(lane);
}

/**
 * Whether the job itself may, as long as it has not failed. A worker that dies is believed not to have started what it
 * did not tell about, so a job that must not run twice, or for which this attempt is the last, starts when it is claimed.
 */
export function mayPrefetch({ rerun, maxAttempts }: Pick<JobSpec, 'rerun' | 'maxAttempts'>): boolean {
  return rerun === 'safe' && maxAttempts > 1;
}
