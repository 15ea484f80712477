/** How a due run relates to the unfinished runs of its line. */

import type { OverlapPolicy } from './schedule.ts';

/**
 * `free`: the run starts. `follow_open`: it waits for all unfinished runs. `replace_open`: it waits for them, and they
 * are asked to stop. `follow_previous`: it waits for the previous run of the same decision. `skip`: it does not run.
 */
export type Place = 'free' | 'follow_open' | 'replace_open' | 'follow_previous' | 'skip';

export interface PlaceRequest {
  policy: OverlapPolicy;
  /** Unfinished runs from before this decision. */
  open: number;
  /** Runs that this decision has started so far. */
  started: number;
}

/** The place of the next run of a decision, oldest first. */
export function placeOf({ policy, open, started }: PlaceRequest): Place {
  if (policy === 'allow') return 'free';
  // The runs of one catch-up follow one another, unless an unfinished run from before leaves no room for a second one.
  if (started > 0) return policy === 'buffer_one' && open > 0 ? 'skip' : 'follow_previous';
  if (open === 0) return 'free';
  if (policy === 'cancel_other') return 'replace_open';
  // One run may wait for the running one; a second may not.
  return policy === 'buffer_one' && open === 1 ? 'follow_open' : 'skip';
}
