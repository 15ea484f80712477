/** A child's fate from the counters of its dependencies. */

import type { Reason } from '../job.ts';
import type { EdgeCounters } from './edge-counters.ts';

/**
 * How dependencies are read. `each`: a job's, every edge has its own condition and all must hold. `together`: a
 * workflow step's, all edges have the step's condition, which is about its parents as a whole.
 */
export const JUDGE_MODES = ['each', 'together'] as const;
export type JudgeMode = (typeof JUDGE_MODES)[number];

/** Of a job: it is read as a step where it is one itself, and not the item of one. */
export function judgeModeOf(job: { stepKey: string | null; groupId: number | null }): JudgeMode {
  return job.stepKey !== null && job.groupId === null ? 'together' : 'each';
}

export type SkipReason = Extract<Reason, 'upstream_failed' | 'condition'>;
export type Verdict = 'wait' | 'free' | { skip: SkipReason };

/**
 * What becomes of the child now. With `each` the first edge that cannot hold decides, without waiting for the others;
 * where several come to light at once, a broken success goes before a failure that did not come. With `together`
 * nothing is decided before all parents have ended; then `success` needs all of them to have succeeded, `failure`
 * at least one to have failed, `ended` nothing.
 */
export function verdict(counters: EdgeCounters, mode: JudgeMode): Verdict {
  if (mode === 'together' && counters.open > 0) return 'wait';
  if (counters.broken > 0) return { skip: 'upstream_failed' };
  if (counters.missed > 0 && (mode === 'each' || counters.held === 0)) return { skip: 'condition' };
  return counters.open > 0 ? 'wait' : 'free';
}
