/** Starts the runs of schedules. */

import { withBarrierStep } from '../../../core/schedule/barrier-step.ts';
import type { PlannedRun } from '../../../core/schedule/plan-line.ts';
import { jobForTick, workflowForTick } from '../../../core/schedule/run-for-tick.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import type { WantedRun } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { insertDependent } from '../graph/insert-dependent.ts';
import { addWorkflow } from '../graph/insert-workflow.ts';
import { encodeNewWorkflow } from '../graph/new-workflow.ts';
import { parentEndsOf } from '../graph/parents.ts';
import { encodeDependencies, encodeNewJobs, type NewJobRow } from '../jobs/new-job-row.ts';

/** Starts runs in order. One that follows the previous run follows the one before it in the list. */
export function startRuns(context: Context, wanted: readonly WantedRun[]): Run[] {
  const started: Run[] = [];
  for (const { schedule, run, open } of wanted) {
    const previous = started.slice(-1);
    const follows = run.place === 'follow_previous' ? previous : run.place === 'free' ? [] : open;
    started.push(start(context, schedule, run, follows));
  }
  return started;
}

/** Starts a run that waits for the end of the runs that it follows. */
function start(context: Context, { target }: Schedule, run: PlannedRun, follows: readonly Run[]): Run {
  const { database, now } = context;
  const after = follows.flatMap((one) => jobsOf(context, one));
  const { line } = run.tick;
  if ('workflow' in target) {
    const wanted = encodeNewWorkflow(withBarrierStep(workflowForTick(target.workflow, run), after.length), now);
    const workflowId = addWorkflow(context, wanted, after);
    database.run(sql.setWorkflowLine, workflowId, line);
    return { jobId: null, workflowId };
  }
  const dependsOn = after.map((jobId) => ({ jobId, condition: 'ended' as const }));
  const job = jobForTick(target.job, run, dependsOn);
  const { rows, lanes } = encodeNewJobs([job], now);
  const dependencies = encodeDependencies(job);
  const wanted = { row: rows[0] as NewJobRow, flags: 0, dependencies };
  if (job.fairKey !== null) context.fairQueues.add(job.queue);
  const [jobId] = insertDependent(context, [wanted], { lanes, ends: parentEndsOf(context, [dependencies]) });
  database.run(sql.setLines, jobId as number, line);
  return { jobId: jobId as number, workflowId: null };
}

/** The jobs that have to end before a run has ended. Failed steps are among them: they may be retried. */
function jobsOf({ database }: Context, { jobId, workflowId }: Run): number[] {
  if (jobId !== null) return [jobId];
  return database.all<{ id: number }>(sql.unfinishedSteps, workflowId).map(({ id }) => id);
}
