/** Judges a child by the counters of its edges. */

import type { Reason } from '../job.ts';
import type { EdgeCounters } from './edge-counters.ts';

/**
 * How the edges of a child are read. `each`: a job, every edge has its own condition and all must hold. `together`: a
 * workflow step, all edges have the step's condition, which is about its parents as a whole.
 */
export type JudgeMode = 'each' | 'together';

/** Items of a group are read as jobs: only the group itself is a step. */
export function judgeModeOf(job: { stepKey: string | null; groupId: number | null }): JudgeMode {
  return job.stepKey !== null && job.groupId === null ? 'together' : 'each';
}

export type SkipReason = Extract<Reason, 'upstream_failed' | 'condition'>;
/** The fate of a child: it waits for its parents, is free, or is skipped. */
export type Fate = 'wait' | 'free' | { skip: SkipReason };

/**
 * Returns the fate of a child. With `each` the first edge that cannot hold decides, without waiting for the others; of several
 * at once, a broken `success` goes before a missed `failure`. With `together` nothing is decided before all parents have ended;
 * then `success` needs all of them to have succeeded, `failure` at least one to have failed, `ended` nothing.
 */
export function judgeEdges(counters: EdgeCounters, mode: JudgeMode): Fate {
  if (mode === 'together' && counters.open > 0) return 'wait';
  if (counters.broken > 0) return { skip: 'upstream_failed' };
  if (counters.missed > 0 && (mode === 'each' || counters.held === 0)) return { skip: 'condition' };
  return counters.open > 0 ? 'wait' : 'free';
}
