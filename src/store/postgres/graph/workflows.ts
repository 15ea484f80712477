import { countedEnd } from '../../../core/dag/conditions.ts';
import { endStep, openSteps, type WorkflowStatus, workflowStatus } from '../../../core/dag/workflow-status.ts';
import { WorkronError } from '../../../core/error.ts';
import type { Dependency, TerminalStatus } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Notify } from '../../../core/notify.ts';
import {
  type GroupState,
  type InsertOptions,
  type NewWorkflow,
  type Workflow,
  type WorkflowFilter,
  type WorkflowStep,
} from '../../store.ts';
import type { Context } from '../context.ts';
import type { Session } from '../database.ts';
import { FLAG } from '../flags.ts';
import { beginIdempotent } from '../idempotency.ts';
import { decodeJob, type JobRow } from '../job-row.ts';
import { giveTurnsTo } from '../turns.ts';
import { numbers } from '../values.ts';
import { transactAgain } from './again.ts';
import { countsOf, type FanRow } from './groups.ts';
import { edgesOf, type Fate, insertEdges, insertLinked, type Prospect, prospectOf } from './insert-linked.ts';
import type { ParentEnds } from './parents.ts';

interface WorkflowRow {
  id: number;
  name: string;
  params: Record<string, unknown>;
  status: WorkflowStatus;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  rerun_of: number | null;
  notify: Notify[] | null;
  total: number;
  open_steps: number;
  fine_steps: number;
  failed_steps: number;
  cancelled_steps: number;
}

interface Answer {
  workflow: Workflow;
  replayed: boolean;
}

export async function insertWorkflow(
  context: Context,
  wanted: NewWorkflow,
  { idempotency }: InsertOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const { sql, hints } = context;
  const lanes = await context.lanes.idsOf(
    wanted.steps.map(({ job }) => laneKey(laneOf(job))),
    signal,
  );
  const answer = await transactAgain(context, signal, async (session): Promise<Answer> => {
    if (idempotency !== undefined) {
      type Stored = { workflow_id: number };
      const stored = await beginIdempotent<Stored>(context, session, idempotency);
      if (stored !== undefined) return { workflow: await readAgain(context, session, stored), replayed: true };
    }
    const id = await storeWorkflow(context, session, wanted, { lanes, after: [], ends: new Map() });
    if (idempotency !== undefined) {
      await session.query(sql.endIdempotent, [idempotency.key, JSON.stringify({ workflow_id: id })]);
    }
    return { workflow: (await readRow(context, session, id)) as Workflow, replayed: false };
  });
  if (!answer.replayed) context.fairQueues.learn(fairQueuesOf(wanted));
  // Cheap to say: whoever looks finds what there is.
  if (!answer.replayed) hints.tell({ work: true, graph: true, dueAt: firstDue(wanted, answer.workflow.createdAt) });
  return answer;
}

function firstDue({ steps }: NewWorkflow, now: number): number | null {
  const dues = steps.flatMap(({ job }) => {
    const at = job.runAt ?? (job.delayMs === null ? null : now + job.delayMs);
    return at === null ? [] : [at];
  });
  return dues.length === 0 ? null : dues.reduce((first, at) => Math.min(first, at));
}

async function readAgain(context: Context, session: Session, { workflow_id: id }: { workflow_id: number }) {
  const found = await readRow(context, session, id);
  if (found === undefined) throw new WorkronError('workflow_not_found', `Workflow ${id} is there no longer`);
  return found;
}

/** How a workflow begins. */
export interface Beginning {
  /** Of each step. */
  lanes: readonly number[];
  /** What its first steps wait for, locked, and how that stands. */
  after: readonly Dependency[];
  ends: ParentEnds;
}

/** Nobody sees the steps before the transaction ends, so nothing of them has to be locked. Answers with its id. */
export async function storeWorkflow(
  context: Context,
  session: Session,
  wanted: NewWorkflow,
  { lanes, after, ends: endsBefore }: Beginning,
): Promise<number> {
  const { sql } = context;
  await refuseUnknown(context, session, wanted);
  const notify = wanted.notify === undefined || wanted.notify.length === 0 ? null : JSON.stringify(wanted.notify);
  const values = [wanted.name, JSON.stringify(wanted.params), wanted.rerunOf, wanted.steps.length, notify];
  const [row] = await session.query<{ id: number; created_at: number }>(sql.insertWorkflow, values);
  const workflowId = row?.id as number;
  const { prospects, ends, counts } = foresee(wanted, { after, ends: endsBefore });
  const hasChildren = new Set(wanted.steps.flatMap(({ parents }) => parents));
  const ids = await insertLinked(
    context,
    session,
    wanted.steps.map(({ key, job, forEach, keepFrom }, place) => ({
      job: { ...job, unique: null },
      lane: lanes[place] as number,
      prospect: prospects[place] as Prospect,
      flags: FLAG.inWorkflow | (forEach === null ? 0 : FLAG.group) | (hasChildren.has(place) ? FLAG.hasChildren : 0),
      step: { workflowId, key, keepFrom },
    })),
  );
  const endsById = new Map([...endsBefore, ...ids.map((id, place) => [id, ends[place] ?? null] as const)]);
  const edges = wanted.steps.flatMap((step, place) =>
    edgesOf(ids[place] as number, step.parents.length === 0 ? after : dependenciesOf(step, ids), endsById),
  );
  await insertEdges(context, session, edges);
  await insertFans(context, session, wanted, { ids, prospects });
  if (counts.open < wanted.steps.length) {
    const { open, fine, failed, cancelled } = counts;
    const columns = [workflowId, open, fine, failed, cancelled].map((value) => numbers([value]));
    await session.query(sql.writeWorkflows, [...columns, [workflowStatus(counts, false)], row?.created_at]);
  }
  await giveTurnsTo(context, session, { jobIds: ids, fairQueues: fairQueuesOf(wanted) });
  return workflowId;
}

function fairQueuesOf({ steps }: NewWorkflow): string[] {
  return steps.flatMap(({ job }) => (job.fairKey === null ? [] : job.queue));
}

function dependenciesOf({ parents, condition }: NewWorkflow['steps'][number], ids: readonly number[]): Dependency[] {
  return parents.map((place) => ({ jobId: ids[place] as number, condition }));
}

/** How each step begins. Parents come first, so one pass does it; steps are named by their places here. */
function foresee({ steps }: NewWorkflow, { after, ends: endsBefore }: Pick<Beginning, 'after' | 'ends'>) {
  const places = steps.map((_, place) => place);
  const ends: (TerminalStatus | null)[] = [];
  const known = new Map<number, TerminalStatus | null>();
  let counts = openSteps(steps.length);
  const prospects = steps.map((step, place): Prospect => {
    const { counters, fate } =
      step.parents.length === 0
        ? prospectOf(after, endsBefore, 'together')
        : prospectOf(dependenciesOf(step, places), known, 'together');
    const own: Fate = step.keepFrom !== null ? 'kept' : fate === 'free' && step.forEach !== null ? 'group' : fate;
    const status = own === 'kept' ? 'done' : own === 'upstream_failed' || own === 'condition' ? 'skipped' : null;
    const { continueOnFailure } = step.job;
    if (status !== null) counts = endStep(counts, { status, continueOnFailure });
    const end = status === null ? null : countedEnd(status, continueOnFailure);
    ends.push(end);
    known.set(place, end);
    return { counters, fate: own };
  });
  return { prospects, ends, counts };
}

async function refuseUnknown({ sql }: Context, session: Session, { steps }: NewWorkflow): Promise<void> {
  const kept = steps.flatMap(({ keepFrom }) => keepFrom ?? []);
  if (kept.length === 0) return;
  const rows = await session.query<{ id: number }>(sql.existingJobs, [numbers(kept)]);
  const known = new Set(rows.map(({ id }) => id));
  const unknown = kept.find((id) => !known.has(id));
  if (unknown === undefined) return;
  throw new WorkronError('job_not_found', `No job ${unknown} whose result could be kept`, { jobId: unknown });
}

async function insertFans(
  { sql }: Context,
  session: Session,
  { steps }: NewWorkflow,
  { ids, prospects }: { ids: readonly number[]; prospects: readonly Prospect[] },
): Promise<void> {
  const fans = steps.flatMap(({ forEach }, place) => {
    if (forEach === null) return [];
    const { items, maxParallel } = forEach;
    const source = 'parent' in items ? { parentId: ids[items.parent], path: items.path } : items;
    return [{ id: ids[place] as number, source, maxParallel, due: prospects[place]?.fate === 'group' }];
  });
  if (fans.length === 0) return;
  await session.query(sql.insertFans, [
    numbers(fans.map(({ id }) => id)),
    fans.map(({ source }) => JSON.stringify(source)),
    numbers(fans.map(({ maxParallel }) => maxParallel)),
    fans.map(({ due }) => due),
  ]);
}

export async function workflow(
  { database, sql }: Context,
  id: number,
  signal: AbortSignal,
): Promise<Workflow | undefined> {
  const [row] = await database.query<WorkflowRow>(sql.workflows, [numbers([id])], signal);
  return row === undefined ? undefined : decodeWorkflow(row);
}

async function readRow({ sql }: Context, session: Session, id: number): Promise<Workflow | undefined> {
  const [row] = await session.query<WorkflowRow>(sql.workflows, [numbers([id])]);
  return row === undefined ? undefined : decodeWorkflow(row);
}

export async function workflows(
  { database, schema }: Context,
  { status, name }: WorkflowFilter,
  { before, limit }: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<Workflow[]> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...(status === undefined ? [] : [`status = ${bind(status)}`]),
    ...(name === undefined ? [] : [`name = ${bind(name)}`]),
    ...(before === null ? [] : [`id < ${bind(before)}::bigint`]),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const text = `select * from ${schema}.workflow ${where} order by id desc limit ${bind(limit)}::bigint`;
  const rows = await database.query<WorkflowRow>({ text }, values, signal);
  return rows.map(decodeWorkflow);
}

export async function steps(
  { database, sql }: Context,
  workflowId: number,
  signal: AbortSignal,
): Promise<WorkflowStep[]> {
  const found = await database.query<{ id: number }>(sql.stepIds, [workflowId], signal);
  if (found.length === 0) return [];
  const ids = numbers(found.map(({ id }) => id));
  type GroupRow = FanRow & { source: GroupState['source'] };
  const [jobs, fans] = await Promise.all([
    database.query<JobRow>(sql.jobs, [ids], signal),
    database.query<GroupRow>(sql.stepGroups, [ids], signal),
  ]);
  const groups = new Map(fans.map((fan) => [fan.job_id, stateOfGroup(fan)]));
  return jobs
    .map(decodeJob)
    .sort((a, b) => a.id - b.id)
    .map((job) => ({
      job,
      key: job.stepKey as string,
      condition: job.dependsOn[0]?.condition ?? 'success',
      group: groups.get(job.id) ?? null,
    }));
}

function stateOfGroup(fan: FanRow & { source: GroupState['source'] }): GroupState {
  const { source, total, max_parallel, inserted } = fan;
  return { source, total, maxParallel: max_parallel, inserted, counts: countsOf(fan) };
}

function decodeWorkflow(row: WorkflowRow): Workflow {
  return {
    id: row.id,
    name: row.name,
    params: row.params,
    notify: row.notify ?? [],
    status: row.status,
    createdAt: row.created_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    rerunOf: row.rerun_of,
    total: row.total,
    counts: { open: row.open_steps, fine: row.fine_steps, failed: row.failed_steps, cancelled: row.cancelled_steps },
  };
}
