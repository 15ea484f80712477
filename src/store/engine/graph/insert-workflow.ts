/** Inserts a workflow with all its steps, piece by piece in one transaction. */

import { countedEnd, edgeStateFor } from '../../../core/dag/conditions.ts';
import { openEdges } from '../../../core/dag/edge-counters.ts';
import type { NewStep, NewWorkflow } from '../../../core/dag/new-workflow.ts';
import type { GroupState, Workflow } from '../../../core/dag/workflow.ts';
import { endStep, openSteps, type StepCounts, workflowStatus } from '../../../core/dag/workflow-status.ts';
import { WorkronError } from '../../../core/error.ts';
import type { Dependency, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { InsertOptions } from '../../job-store.ts';
import { columns } from '../../sql/columns.ts';
import { now, raw, spelled, sql } from '../../sql/sql.ts';
import type { LinkedJob, Tx } from '../../sql/tx.ts';
import { beginIdempotent, endIdempotent } from '../idempotency.ts';
import {
  type Edge,
  edgesOf,
  insertEdges,
  type NewJobFate,
  type ParentEnds,
  type Placement,
  placementOf,
} from './edges.ts';
import type { Outline, Pieces } from './outline.ts';
import { existingJobs } from './related-jobs.ts';
import { writeCounts } from './workflow-counts.ts';
import { workflow, workflowRow } from './workflows.ts';

/** A new workflow whose steps are read once, in pieces. */
export interface WorkflowInput extends Omit<NewWorkflow, 'steps'> {
  outline: Outline;
  pieces: Pieces;
}

export interface InsertedWorkflow {
  workflow: Workflow;
  replayed: boolean;
}

export async function insertWorkflow(
  tx: Tx,
  wanted: WorkflowInput,
  { idempotency }: InsertOptions,
): Promise<InsertedWorkflow> {
  if (idempotency !== undefined) {
    const stored = await beginIdempotent<{ workflow_id: number }>(tx, idempotency);
    if (stored !== undefined) return { workflow: await readAgain(tx, stored.workflow_id), replayed: true };
  }
  const id = await storeWorkflow(tx, wanted, NOTHING_BEFORE);
  if (idempotency !== undefined) await endIdempotent(tx, idempotency, { workflow_id: id });
  return { workflow: (await workflow(tx, id)) as Workflow, replayed: false };
}

async function readAgain(tx: Tx, id: number): Promise<Workflow> {
  const found = await workflow(tx, id);
  if (found === undefined) throw new WorkronError('workflow_not_found', `Workflow ${id} no longer exists`);
  return found;
}

/** The jobs that the first steps of a workflow wait for, which are locked, and their ends. */
interface Earlier {
  after: readonly Dependency[];
  ends: ParentEnds;
}

const NOTHING_BEFORE: Earlier = { after: [], ends: new Map() };

/** The steps inserted so far, as far as later steps depend on them. */
interface Progress extends Earlier {
  workflowId: number;
  outline: Outline;
  /** Ids by place in the list. */
  ids: number[];
  /** Counted ends of steps that had ended when they were inserted, by place. */
  stepEnds: Map<number, TerminalStatus>;
  counts: StepCounts;
}

const madeRow = columns<{ id: number; createdAt: number }>({ id: 'bigint', createdAt: 'instant' });
const nextId = spelled({ sqlite: raw('null'), postgres: raw(`nextval('workflow_id')`) });

/** Returns the id. The steps are not locked: no one else sees them before the commit. */
export async function storeWorkflow(tx: Tx, wanted: WorkflowInput, earlier: Earlier): Promise<number> {
  const { outline, pieces, name, params, rerunOf, notify = [], definition, submittedBy = null } = wanted;
  const { total, kept } = outline;
  // Unknown lanes are found before anything is written.
  tx.laneIds(outline.lanes);
  await refuseUnknown(tx, kept);
  const values = workflowRow.values({
    id: nextId,
    name,
    params,
    notify: notify.length === 0 ? null : notify,
    status: 'pending',
    createdAt: now,
    rerunOf,
    definition: definition?.name ?? null,
    definitionVersion: definition?.version ?? null,
    submittedBy,
    total,
    openSteps: total,
  });
  const made = await tx.get(madeRow, sql`insert into workflow ${values} returning ${madeRow}`);
  const { id: workflowId, createdAt } = made as NonNullable<typeof made>;
  const progress = { ...earlier, workflowId, outline, ids: [], stepEnds: new Map(), counts: openSteps(total) };
  for (const piece of pieces) await storePiece(tx, piece, progress);
  const { counts, ids } = progress;
  if (counts.open < total) {
    await writeCounts(tx, [{ id: workflowId, ...counts, status: workflowStatus(counts, false) }], createdAt);
  }
  announce(tx, outline, { ids, createdAt });
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

async function storePiece(tx: Tx, piece: readonly NewStep[], progress: Progress): Promise<void> {
  const start = progress.ids.length;
  const linked = piece.map((step, index) => placeStep(step, start + index, progress));
  for (const id of await tx.insertLinked(linked)) progress.ids.push(id);
  await insertEdges(tx, edgesOfPiece(piece, start, progress));
  await insertGroups(tx, piece, { start, linked, ids: progress.ids });
}

/** Yields edges one by one: a step that joins all others has as many as there are steps. */
function* edgesOfPiece(piece: readonly NewStep[], start: number, progress: Progress): Generator<Edge> {
  const { after, ends, ids, stepEnds } = progress;
  for (const [index, { parents, condition }] of piece.entries()) {
    const childId = ids[start + index] as number;
    if (parents.length === 0) yield* edgesOf(childId, after, ends);
    for (const parent of parents) {
      const state = edgeStateFor(condition, stepEnds.get(parent) ?? null);
      yield { childId, parentId: ids[parent] as number, condition, state };
    }
  }
}

/** Judges a new step. Its parents come before it in the list, so their ends are known. */
function placeStep(step: NewStep, at: number, progress: Progress): LinkedJob {
  const { key, job, parents, forEach, keepFrom } = step;
  const { after, ends, workflowId, outline } = progress;
  const { counters, fate } =
    parents.length === 0 ? placementOf(after, ends, 'together') : placementWithin(step, progress.stepEnds);
  const own: NewJobFate = keepFrom !== null ? 'kept' : fate === 'free' && forEach !== null ? 'group' : fate;
  const status = own === 'kept' ? 'done' : own === 'upstream_failed' || own === 'condition' ? 'skipped' : null;
  if (status !== null) {
    const { continueOnFailure } = job;
    progress.counts = endStep(progress.counts, { status, continueOnFailure });
    progress.stepEnds.set(at, countedEnd(status, continueOnFailure));
  }
  return {
    job: job.unique === null ? job : { ...job, unique: null },
    placement: { counters, fate: own },
    flags:
      FLAG.inWorkflow | (forEach === null ? 0 : FLAG.group) | (outline.hasChildren[at] === 1 ? FLAG.hasChildren : 0),
    step: { workflowId, key, keepFrom },
  };
}

function placementWithin({ parents, condition }: NewStep, ends: Progress['stepEnds']): Placement {
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

interface NewGroup extends Pick<GroupState, 'source' | 'maxParallel'> {
  jobId: number;
  needsItems: boolean;
}

const newGroup = columns<NewGroup>({ jobId: 'bigint', source: 'json', maxParallel: 'int', needsItems: 'bool' });

async function insertGroups(
  tx: Tx,
  piece: readonly NewStep[],
  { start, linked, ids }: { start: number; linked: readonly LinkedJob[]; ids: readonly number[] },
): Promise<void> {
  const groups = piece.flatMap(({ forEach }, index): NewGroup[] => {
    if (forEach === null) return [];
    const { items, maxParallel } = forEach;
    const source = 'parent' in items ? { parentId: ids[items.parent] as number, path: items.path } : items;
    const needsItems = linked[index]?.placement.fate === 'group';
    return [{ jobId: ids[start + index] as number, source, maxParallel, needsItems }];
  });
  if (groups.length > 0) await tx.run(sql`insert into job_group ${newGroup.rows(groups)}`);
}
