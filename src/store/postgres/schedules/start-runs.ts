/** Starts the runs of schedules: all jobs together, workflows one by one. */

import { openEdges } from '../../../core/dag/edge-counters.ts';
import type { Dependency, NewJob } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { withBarrierStep } from '../../../core/schedule/barrier-step.ts';
import { jobForTick, workflowForTick } from '../../../core/schedule/run-for-tick.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { edgesOf, insertEdges, type ParentEnds, type Placement, placementOf } from '../../engine/graph/edges.ts';
import { lockParents, markParents } from '../../engine/graph/parents.ts';
import { NO_RUN } from '../../engine/schedules/rows.ts';
import { FLAG } from '../../flags.ts';
import type { Tx, WantedRun } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { insertLinked } from '../graph/insert-dependent.ts';
import { outlineOf, storeWorkflow } from '../graph/insert-workflow.ts';
import { insertRows } from '../jobs/insert-rows.ts';

/** A run that waits for another one of the list follows it directly. Returns the runs in order. */
export async function startRuns(
  context: Context,
  tx: Tx,
  session: Session,
  wanted: readonly WantedRun[],
): Promise<Run[]> {
  const transaction = { tx, session };
  const steps = await stepsOf(context, transaction, wanted);
  const earlier = wanted.map(({ run: { place }, open }) => {
    if (place === 'free' || place === 'follow_previous') return [];
    return open.flatMap(({ jobId, workflowId }) => (jobId === null ? (steps.get(workflowId ?? 0) ?? []) : [jobId]));
  });
  const dependsOn = earlier.map((ids) => ids.map((jobId): Dependency => ({ jobId, condition: 'ended' })));
  // All at once, see 'Lock order' in docs/architecture.md.
  const ends = await lockParents(
    tx,
    dependsOn.map((dependencies) => ({ dependsOn: dependencies })),
  );
  const placed = wanted.map((one, index) => ({ ...one, index, dependsOn: dependsOn[index] ?? [] }));
  const started = new Map<number, Run>();
  const jobs = placed.filter(({ schedule }) => 'job' in schedule.target);
  const ids = await startJobs(context, transaction, jobs, ends);
  jobs.forEach(({ index }, place) => started.set(index, { jobId: ids[place] as number, workflowId: null }));
  for (const one of placed) {
    if ('job' in one.schedule.target) continue;
    const previous = one.run.place === 'follow_previous' ? started.get(one.index - 1) : undefined;
    const workflowId = await startWorkflow(context, transaction, one, { ends, previous: previous ?? NO_RUN });
    started.set(one.index, { jobId: null, workflowId });
  }
  return wanted.map((_, index) => started.get(index) ?? NO_RUN);
}

interface Transaction {
  tx: Tx;
  session: Session;
}

interface PlacedRun extends WantedRun {
  /** Dependencies on earlier runs. */
  dependsOn: readonly Dependency[];
}

/** The steps of workflows that another run follows: those that run, wait, or failed and may be retried. */
async function stepsOf(
  { sql }: Context,
  { session }: Transaction,
  wanted: readonly WantedRun[],
): Promise<Map<number, number[]>> {
  const ids = new Set(wanted.flatMap(({ open }) => open.flatMap(({ workflowId }) => workflowId ?? [])));
  const steps = new Map<number, number[]>();
  if (ids.size === 0) return steps;
  const rows = await session.query<{ id: number; workflow_id: number }>(sql.unfinishedSteps, [numbers([...ids])]);
  for (const { id, workflow_id } of rows) steps.set(workflow_id, [...(steps.get(workflow_id) ?? []), id]);
  return steps;
}

async function startJobs(
  context: Context,
  { tx, session }: Transaction,
  runs: readonly PlacedRun[],
  ends: ParentEnds,
): Promise<number[]> {
  if (runs.length === 0) return [];
  const jobs = runs.map(({ schedule: { target }, run, dependsOn }): NewJob => {
    if (!('job' in target)) throw new Error('a workflow among jobs');
    return jobForTick(target.job, run, dependsOn);
  });
  const lanes = lanesOf(tx, jobs);
  const ids = runs.every(({ run }) => run.place === 'free')
    ? (await insertRows(context, session, jobs, lanes)).map(({ id }) => id)
    : await insertChains(context, { tx, session }, { runs, jobs, lanes, ends });
  tx.locks.made(ids);
  await session.query(context.sql.setLines, [numbers(ids), numbers(runs.map(({ run }) => run.tick.line))]);
  for (const [index, id] of ids.entries()) {
    const { fairKey, queue, runAt } = jobs[index] as NewJob;
    if (fairKey !== null) tx.graphUpdate.fairQueues.add(queue);
    tx.effects.changedJob(id);
    // A hint is cheap, and may be false.
    tx.graphUpdate.jobIs(id, { status: 'pending', due: 0 });
    if (runAt !== null) tx.effects.willBeDue(runAt);
  }
  return ids;
}

/** The jobs are not visible before the transaction ends, so jobs that follow one another can be stored at once. */
async function insertChains(
  context: Context,
  { tx, session }: Transaction,
  { runs, jobs, lanes, ends }: { runs: readonly PlacedRun[]; jobs: NewJob[]; lanes: number[]; ends: ParentEnds },
): Promise<number[]> {
  const follows = (index: number) => runs[index]?.run.place === 'follow_previous';
  const waits: Placement = { counters: openEdges(1), fate: 'wait' };
  const ids = await insertLinked(
    context,
    session,
    jobs.map((job, index) => ({
      job,
      lane: lanes[index] as number,
      placement: follows(index) ? waits : placementOf(job.dependsOn, ends, 'each'),
      flags: follows(index + 1) ? FLAG.hasChildren : 0,
      step: null,
    })),
  );
  const edges = ids.flatMap((id, index) => {
    if (!follows(index)) return edgesOf(id, jobs[index]?.dependsOn ?? [], ends);
    return edgesOf(id, [{ jobId: ids[index - 1] as number, condition: 'ended' }], new Map());
  });
  await insertEdges(tx, edges);
  return ids;
}

async function startWorkflow(
  context: Context,
  transaction: Transaction,
  { schedule: { target }, run, dependsOn }: PlacedRun,
  { ends, previous }: { ends: ParentEnds; previous: Run },
): Promise<number> {
  if (!('workflow' in target)) throw new Error('a job among workflows');
  const { tx, session } = transaction;
  const rows =
    previous.workflowId === null
      ? []
      : await session.query<{ id: number }>(context.sql.unfinishedSteps, [numbers([previous.workflowId])]);
  const previousIds = rows.map(({ id }) => id);
  tx.locks.made(previousIds);
  await markParents(tx, previousIds);
  const after = [...dependsOn, ...previousIds.map((jobId): Dependency => ({ jobId, condition: 'ended' }))];
  const workflow = withBarrierStep(workflowForTick(target.workflow, run), after.length);
  const outline = await outlineOf(workflow.steps);
  const id = await storeWorkflow(context, transaction, workflow, { outline, after, ends });
  await session.query(context.sql.setWorkflowLine, [id, run.tick.line]);
  if (run.runAt !== null) tx.effects.willBeDue(run.runAt);
  return id;
}

export function lanesOf(tx: Tx, jobs: readonly NewJob[]): number[] {
  return tx.laneIds(jobs.map((job) => laneKey(laneOf(job))));
}
