/** Starts the runs of schedules: all jobs together, workflows one by one. */

import { openEdges } from '../../../core/dag/edge-counters.ts';
import type { Dependency, NewJob } from '../../../core/job.ts';
import { withBarrierStep } from '../../../core/schedule/barrier-step.ts';
import type { PlannedRun } from '../../../core/schedule/plan-line.ts';
import { jobForTick, workflowForTick } from '../../../core/schedule/run-for-tick.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { FLAG } from '../../flags.ts';
import { columns } from '../../sql/columns.ts';
import { alsoAnyOf, anyOf, sql } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { edgesOf, insertEdges, type ParentEnds, type Placement, placementOf } from '../graph/edges.ts';
import { storeWorkflow } from '../graph/insert-workflow.ts';
import { atOnce, outline } from '../graph/outline.ts';
import { lockParents, markParents } from '../graph/parents.ts';
import { NO_RUN } from './rows.ts';

export interface WantedRun {
  schedule: Schedule;
  run: PlannedRun;
  /** Earlier unfinished runs of its line. */
  open: readonly Run[];
}

const stepRow = columns<{ id: number; workflowId: number }>({ id: 'bigint', workflowId: 'bigint' });
const lineRow = columns<{ jobId: number; line: number }>({ jobId: 'bigint', line: 'bigint' });

/** A run that waits for another one of the list follows it directly. Returns the runs in order. */
export async function startRuns(tx: Tx, wanted: readonly WantedRun[]): Promise<Run[]> {
  if (wanted.length === 0) return [];
  const steps = await unfinishedSteps(
    tx,
    wanted.flatMap(({ open }) => open.flatMap(({ workflowId }) => workflowId ?? [])),
  );
  const placed = wanted.map((one, index) => ({ ...one, index, dependsOn: afterOpen(one, steps) }));
  // All at once, see 'Lock order' in docs/architecture.md.
  const ends = await lockParents(tx, placed);
  const started = new Map<number, Run>();
  const jobs = placed.filter(({ schedule }) => 'job' in schedule.target);
  const ids = await startJobs(tx, jobs, ends);
  jobs.forEach(({ index }, place) => started.set(index, { jobId: ids[place] as number, workflowId: null }));
  for (const one of placed) {
    if ('job' in one.schedule.target) continue;
    const previous = one.run.place === 'follow_previous' ? started.get(one.index - 1) : undefined;
    const workflowId = await startWorkflow(tx, one, { ends, previous: previous ?? NO_RUN });
    started.set(one.index, { jobId: null, workflowId });
  }
  return wanted.map((_, index) => started.get(index) ?? NO_RUN);
}

interface PlacedRun extends WantedRun {
  /** Dependencies on earlier runs. */
  dependsOn: readonly Dependency[];
}

/** The steps of workflows that another run follows: those that run, wait, or failed and may be retried. */
async function unfinishedSteps(tx: Tx, workflowIds: readonly number[]): Promise<Map<number, number[]>> {
  if (workflowIds.length === 0) return new Map();
  const rows = await tx.all(
    stepRow,
    sql`select j.id, j.workflow_id from job j where j.workflow_id ${anyOf([...new Set(workflowIds)])}
        and j.group_id is null and not exists (select 1 from run r where r.job_id = j.id and r.status = 'done')
      order by j.id`,
  );
  const steps = Map.groupBy(rows, ({ workflowId }) => workflowId);
  return new Map([...steps].map(([workflowId, found]) => [workflowId, found.map(({ id }) => id)]));
}

function afterOpen({ run: { place }, open }: WantedRun, steps: ReadonlyMap<number, number[]>): Dependency[] {
  if (place === 'free' || place === 'follow_previous') return [];
  const ids = open.flatMap(({ jobId, workflowId }) => (jobId === null ? (steps.get(workflowId ?? 0) ?? []) : [jobId]));
  return ids.map((jobId) => ({ jobId, condition: 'ended' }));
}

async function startJobs(tx: Tx, runs: readonly PlacedRun[], ends: ParentEnds): Promise<number[]> {
  if (runs.length === 0) return [];
  const jobs = runs.map(({ schedule: { target }, run, dependsOn }): NewJob => {
    if (!('job' in target)) throw new Error('a workflow among jobs');
    return jobForTick(target.job, run, dependsOn);
  });
  const ids = runs.every(({ run }) => run.place === 'free')
    ? (await tx.insertJobs(jobs)).map(({ id }) => id)
    : await insertChains(tx, { runs, jobs, ends });
  tx.locks.made(ids);
  const lines = ids.map((jobId, place) => ({ jobId, line: runs[place]?.run.tick.line as number }));
  await tx.run(sql`update live set line = i.line from ${lineRow.input(lines)} i
    where live.job_id = i.job_id ${alsoAnyOf('live.job_id', ids)}`);
  return ids;
}

/** The jobs are not visible before the transaction ends, so jobs that follow one another can be stored at once. */
async function insertChains(
  tx: Tx,
  { runs, jobs, ends }: { runs: readonly PlacedRun[]; jobs: readonly NewJob[]; ends: ParentEnds },
): Promise<number[]> {
  const follows = (index: number) => runs[index]?.run.place === 'follow_previous';
  const waits: Placement = { counters: openEdges(1), fate: 'wait' };
  const ids = await tx.insertLinked(
    jobs.map((job, index) => ({
      job,
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

async function startWorkflow(
  tx: Tx,
  { schedule: { target }, run, dependsOn }: PlacedRun,
  { ends, previous }: { ends: ParentEnds; previous: Run },
): Promise<number> {
  if (!('workflow' in target)) throw new Error('a job among workflows');
  const { workflowId } = previous;
  const before = workflowId === null ? [] : ((await unfinishedSteps(tx, [workflowId])).get(workflowId) ?? []);
  tx.locks.made(before);
  await markParents(tx, before);
  const after = [...dependsOn, ...before.map((jobId): Dependency => ({ jobId, condition: 'ended' }))];
  const { steps, ...workflow } = withBarrierStep(workflowForTick(target.workflow, run), after.length);
  const id = await storeWorkflow(
    tx,
    { ...workflow, outline: atOnce(outline(steps)), pieces: [steps] },
    { after, ends },
  );
  await tx.run(sql`update workflow set line = ${run.tick.line} where id = ${id}`);
  if (run.runAt !== null) tx.effects.willBeDue(run.runAt);
  return id;
}
