/** What a run that is due has to do with those of its schedule and key that have not ended. */

import type { OverlapPolicy } from './schedule.ts';

/**
 * `free`: it starts. `follow_open`: it waits for all that is unfinished. `replace_open`: the same, and they are asked to
 * stop. `follow_previous`: it waits for the run before it in the same decision. `skip`: it does not run.
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
  // The runs of one catch-up follow one another, unless what was there before leaves no room for a second.
  if (started > 0) return policy === 'buffer_one' && open > 0 ? 'skip' : 'follow_previous';
  if (open === 0) return 'free';
  if (policy === 'cancel_other') return 'replace_open';
  // One runs, and another may wait for it: that place is taken by the second.
  return policy === 'buffer_one' && open === 1 ? 'follow_open' : 'skip';
}
