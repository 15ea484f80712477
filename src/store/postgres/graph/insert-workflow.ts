/** Inserts a workflow with all its steps, in batches in one transaction. */

import { countedEnd, edgeStateFor } from '../../../core/dag/conditions.ts';
import { openEdges } from '../../../core/dag/edge-counters.ts';
import type { NewStep, NewSteps, NewWorkflow } from '../../../core/dag/new-workflow.ts';
import type { Workflow } from '../../../core/dag/workflow.ts';
import { endStep, openSteps, type StepCounts, workflowStatus } from '../../../core/dag/workflow-status.ts';
import { WorkronError } from '../../../core/error.ts';
import type { Dependency, TerminalStatus } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import {
  type Edge,
  edgesOf,
  insertEdges,
  type NewJobFate,
  type ParentEnds,
  type Placement,
  placementOf,
} from '../../engine/graph/edges.ts';
import { existingJobs } from '../../engine/graph/related-jobs.ts';
import { writeCounts } from '../../engine/graph/workflow-counts.ts';
import { workflow } from '../../engine/graph/workflows.ts';
import { beginIdempotent, endIdempotent } from '../../engine/idempotency.ts';
import { FLAG } from '../../flags.ts';
import { inPieces } from '../../in-pieces.ts';
import type { InsertOptions } from '../../job-store.ts';
import type { Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { inTransaction } from '../base/engine.ts';
import { numbers } from '../base/values.ts';
import { insertLinked, type LinkedJob } from './insert-dependent.ts';
import { UnknownLanes } from './retry-transaction.ts';

/** Steps that are inserted together. Other work of the process gets its turn in between. */
const STEPS_PER_PIECE = 500;

interface Transaction {
  tx: Tx;
  session: Session;
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
  const outline = await outlineOf(wanted.steps);
  await context.lanes.idsOf([...outline.lanes], signal);
  return await inTransaction(context, signal, async (tx, session): Promise<Answer> => {
    if (idempotency !== undefined) {
      type Stored = { workflow_id: number };
      const stored = await beginIdempotent<Stored>(tx, idempotency);
      if (stored !== undefined) return { workflow: await readAgain(tx, stored), replayed: true };
    }
    const id = await storeWorkflow(context, { tx, session }, wanted, { outline, after: [], ends: new Map() });
    if (idempotency !== undefined) {
      await endIdempotent(tx, idempotency, { workflow_id: id });
    }
    return { workflow: (await workflow(tx, id)) as Workflow, replayed: false };
  });
}

async function readAgain(tx: Tx, { workflow_id: id }: { workflow_id: number }): Promise<Workflow> {
  const found = await workflow(tx, id);
  if (found === undefined) throw new WorkronError('workflow_not_found', `Workflow ${id} no longer exists`);
  return found;
}

/** Facts about all steps that must be known before the first one is inserted. */
interface Outline {
  /** Keys of the lanes. */
  lanes: Set<string>;
  /** Queues of steps with a fair key. */
  fairQueues: Set<string>;
  /** Jobs whose results are kept. */
  kept: number[];
  /** 1 for a step that has children, by its place in the list. */
  hasChildren: Uint8Array;
  /** The earliest `runAt` and the shortest delay of the steps. */
  runAt: number;
  delayMs: number;
}

/** Yields to other work now and then: there may be 100,000 steps. */
export async function outlineOf(steps: NewSteps): Promise<Outline> {
  const outline: Outline = {
    lanes: new Set(),
    fairQueues: new Set(),
    kept: [],
    hasChildren: new Uint8Array(steps.length),
    runAt: Number.POSITIVE_INFINITY,
    delayMs: Number.POSITIVE_INFINITY,
  };
  for (const piece of inPieces(steps, STEPS_PER_PIECE)) {
    for (const { job, parents, keepFrom } of piece) {
      outline.lanes.add(laneKey(laneOf(job)));
      if (job.fairKey !== null) outline.fairQueues.add(job.queue);
      if (keepFrom !== null) outline.kept.push(keepFrom);
      for (const parent of parents) outline.hasChildren[parent] = 1;
      if (job.runAt !== null) outline.runAt = Math.min(outline.runAt, job.runAt);
      else if (job.delayMs !== null) outline.delayMs = Math.min(outline.delayMs, job.delayMs);
    }
    if (steps.length > STEPS_PER_PIECE) await new Promise((resolve) => setImmediate(resolve));
  }
  return outline;
}

/** The context in which a workflow starts. */
interface Beginning {
  outline: Outline;
  /** The jobs that its first steps wait for, which are locked, and their ends. */
  after: readonly Dependency[];
  ends: ParentEnds;
}

/** The steps inserted so far, as far as later steps depend on them. */
interface Progress {
  /** Ids by place in the list. */
  ids: number[];
  /** Counted ends of steps that had ended when they were inserted, by place. */
  ends: Map<number, TerminalStatus>;
  counts: StepCounts;
}

/** Returns the id. The steps are not locked: no one else sees them before the commit. */
export async function storeWorkflow(
  context: Context,
  transaction: Transaction,
  wanted: NewWorkflow,
  beginning: Beginning,
): Promise<number> {
  const { sql } = context;
  const { tx, session } = transaction;
  const { outline } = beginning;
  await refuseUnknown(tx, outline.kept);
  const total = wanted.steps.length;
  const notify = wanted.notify === undefined || wanted.notify.length === 0 ? null : JSON.stringify(wanted.notify);
  const values = [wanted.name, JSON.stringify(wanted.params), wanted.rerunOf, total, notify, ...originOf(wanted)];
  const [row] = await session.query<{ id: number; created_at: number }>(sql.insertWorkflow, values);
  const { id: workflowId, created_at: createdAt } = row as NonNullable<typeof row>;
  const progress: Progress = { ids: [], ends: new Map(), counts: openSteps(total) };
  for (const piece of inPieces(wanted.steps, STEPS_PER_PIECE)) {
    await storePiece(context, transaction, piece, { ...beginning, workflowId, progress });
  }
  const { counts } = progress;
  if (counts.open < total) {
    await writeCounts(tx, [{ id: workflowId, ...counts, status: workflowStatus(counts, false) }], createdAt);
  }
  announce(tx, outline, { ids: progress.ids, createdAt });
  return workflowId;
}

/** Work is announced whether there is some or not: a hint is cheap. */
function announce(
  { effects, graphUpdate }: Tx,
  { runAt, delayMs, fairQueues }: Outline,
  { ids, createdAt }: { ids: readonly number[]; createdAt: number },
): void {
  for (const id of ids) graphUpdate.claimable(id);
  for (const queue of fairQueues) graphUpdate.fairQueues.add(queue);
  effects.madeWork();
  effects.changedGraph();
  const firstDue = Math.min(runAt, createdAt + delayMs);
  if (firstDue !== Number.POSITIVE_INFINITY) effects.willBeDue(firstDue);
}

function originOf({ definition, submittedBy }: NewWorkflow) {
  return [definition?.name ?? null, definition?.version ?? null, submittedBy ?? null];
}

async function storePiece(
  context: Context,
  { tx, session }: Transaction,
  piece: readonly NewStep[],
  place: Beginning & { workflowId: number; progress: Progress },
): Promise<void> {
  const { progress } = place;
  const start = progress.ids.length;
  const linked = piece.map((step, index) => placeStep(context, step, { ...place, at: start + index }));
  for (const id of await insertLinked(context, session, linked)) progress.ids.push(id);
  await insertEdges(tx, edgesOfPiece(piece, start, place));
  await insertGroups(context, session, piece, { start, linked, ids: progress.ids });
}

/** Yields edges one by one: a step that joins all others has as many as there are steps. */
function* edgesOfPiece(
  piece: readonly NewStep[],
  start: number,
  { after, ends, progress }: Beginning & { progress: Progress },
): Generator<Edge> {
  for (const [index, { parents, condition }] of piece.entries()) {
    const childId = progress.ids[start + index] as number;
    if (parents.length === 0) yield* edgesOf(childId, after, ends);
    for (const parent of parents) {
      const state = edgeStateFor(condition, progress.ends.get(parent) ?? null);
      yield { childId, parentId: progress.ids[parent] as number, condition, state };
    }
  }
}

/** Judges a new step. Its parents come before it in the list, so their ends are known. */
function placeStep(
  { lanes }: Context,
  step: NewStep,
  {
    outline,
    after,
    ends,
    workflowId,
    progress,
    at,
  }: Beginning & { workflowId: number; progress: Progress; at: number },
): LinkedJob {
  const { key, job, parents, forEach, keepFrom } = step;
  const { counters, fate } =
    parents.length === 0 ? placementOf(after, ends, 'together') : placementWithin(step, progress.ends);
  const own: NewJobFate = keepFrom !== null ? 'kept' : fate === 'free' && forEach !== null ? 'group' : fate;
  const status = own === 'kept' ? 'done' : own === 'upstream_failed' || own === 'condition' ? 'skipped' : null;
  if (status !== null) {
    const { continueOnFailure } = job;
    progress.counts = endStep(progress.counts, { status, continueOnFailure });
    progress.ends.set(at, countedEnd(status, continueOnFailure));
  }
  const lane = laneKey(laneOf(job));
  const [laneId] = lanes.knownIds([lane]) ?? [];
  if (laneId === undefined) throw new UnknownLanes([...outline.lanes]);
  return {
    job: job.unique === null ? job : { ...job, unique: null },
    lane: laneId,
    placement: { counters, fate: own },
    flags:
      FLAG.inWorkflow | (forEach === null ? 0 : FLAG.group) | (outline.hasChildren[at] === 1 ? FLAG.hasChildren : 0),
    step: { workflowId, key, keepFrom },
  };
}

function placementWithin({ parents, condition }: NewStep, ends: Progress['ends']): Placement {
  if (ends.size === 0) return { counters: openEdges(parents.length), fate: 'wait' };
  const dependencies = parents.map((parent) => ({ jobId: parent, condition }));
  return placementOf(dependencies, ends, 'together');
}

async function refuseUnknown(tx: Tx, kept: readonly number[]): Promise<void> {
  if (kept.length === 0) return;
  const known = new Set(await existingJobs(tx, kept));
  const unknown = kept.find((id) => !known.has(id));
  if (unknown === undefined) return;
  throw new WorkronError('job_not_found', `No job ${unknown} whose result could be kept`, { jobId: unknown });
}

async function insertGroups(
  { sql }: Context,
  session: Session,
  piece: readonly NewStep[],
  { start, linked, ids }: { start: number; linked: readonly LinkedJob[]; ids: readonly number[] },
): Promise<void> {
  const groups = piece.flatMap(({ forEach }, index) => {
    if (forEach === null) return [];
    const { items, maxParallel } = forEach;
    const source = 'parent' in items ? { parentId: ids[items.parent], path: items.path } : items;
    return [
      { id: ids[start + index] as number, source, maxParallel, needsItems: linked[index]?.placement.fate === 'group' },
    ];
  });
  if (groups.length === 0) return;
  await session.query(sql.insertGroups, [
    numbers(groups.map(({ id }) => id)),
    groups.map(({ source }) => JSON.stringify(source)),
    numbers(groups.map(({ maxParallel }) => maxParallel)),
    groups.map(({ needsItems }) => needsItems),
  ]);
}
