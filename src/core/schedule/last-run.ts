/** What a schedule shows of its last run. */

import type { Schedule } from './schedule.ts';
import type { Run, Tick } from './tick.ts';

export type LastRun = Pick<Schedule, 'lastRun' | 'lastVerdict' | 'lastJobId' | 'lastWorkflowId'>;

/** The last run after one more tick. A tick from before it, such as a backfilled one, changes nothing. */
export function afterTick(last: LastRun, tick: Pick<Tick, 'through' | 'verdict'>, { jobId, workflowId }: Run): LastRun {
  const { lastRun, lastJobId, lastWorkflowId } = last;
  if (lastRun !== null && tick.through < lastRun) return last;
  if (tick.verdict !== 'ran') return { lastRun, lastJobId, lastWorkflowId, lastVerdict: tick.verdict };
  return { lastRun: tick.through, lastVerdict: 'ran', lastJobId: jobId, lastWorkflowId: workflowId };
}
