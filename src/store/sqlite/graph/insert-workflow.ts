/** Inserts a workflow with all its steps. */

import { type Condition, edgeStateFor } from '../../../core/dag/conditions.ts';
import type { DefinitionVersion } from '../../../core/dag/definition.ts';
import { openEdges } from '../../../core/dag/edge-counters.ts';
import { type Fate, judgeEdges } from '../../../core/dag/judge.ts';
import type { GroupState, Workflow } from '../../../core/dag/workflow.ts';
import { endStep, openSteps, type StepCounts, workflowStatus } from '../../../core/dag/workflow-status.ts';
import { WorkronError } from '../../../core/error.ts';
import type { Reason, Status, TerminalStatus } from '../../../core/job.ts';
import { workflow } from '../../engine/graph/workflows.ts';
import { FLAG } from '../../flags.ts';
import { inPieces } from '../../in-pieces.ts';
import type { InsertOptions } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import { answeredBefore, remember } from '../jobs/idempotency.ts';
import { PIECE } from './insert-dependent.ts';
import { type DependencyRow, link, type ParentEnds, parentEndsOf } from './parents.ts';

/** One step: its place in the graph, and the columns of its live row. Parents are indexes in the list of steps. */
export type NewStepRow = readonly [
  parents: readonly number[],
  condition: Condition,
  forEach:
    | readonly [items: readonly unknown[] | { parent: number; path: readonly string[] }, maxParallel: number | null]
    | null,
  keepFrom: number | null,
  rank: number,
  /** Index in `NewWorkflowInput.lanes`. */
  lane: number,
  /** Status, due time and expiry once its parents have ended. */
  status: 'scheduled' | 'pending',
  dueAt: number,
  expiresAt: number | null,
  /** The flag `hasChildren`, and the flags that follow from the job alone. */
  flags: number,
];

/** Positions in a `NewStepRow`. */
const STEP = { forEach: 2, keepFrom: 3, dueAt: 7 } as const;

/** Consecutive steps, as JSON in UTF-8. */
export interface NewStepsPiece {
  /** The rows of `sql.insertSteps`, which reads them without decoding here. */
  jobs: Uint8Array<ArrayBuffer>;
  /** `NewStepRow[]`. */
  steps: Uint8Array<ArrayBuffer>;
}

export interface NewWorkflowInput {
  name: string;
  /** As JSON. */
  params: string;
  rerunOf: number | null;
  definition: DefinitionVersion | null;
  submittedBy: string | null;
  /** As JSON; `null` if there are no targets. */
  notify: string | null;
  /** The number of steps. */
  total: number;
  /** Decoded one by one, so that a large workflow is never decoded as a whole. */
  pieces: NewStepsPiece[];
  /** Keys of the lanes that the steps point at. */
  lanes: string[];
  /** Queues of jobs with a fair key. */
  fairQueues: string[];
}

interface InsertWorkflowInput extends InsertOptions, NewWorkflowInput {
  /** The instant for which the rows were made. */
  now: number;
}

interface InsertWorkflowAnswer {
  workflow: Workflow;
  replayed: boolean;
}

export async function insertWorkflow(sent: Context, input: InsertWorkflowInput): Promise<InsertWorkflowAnswer> {
  const context = { ...sent, now: input.now };
  const { idempotency } = input;
  if (idempotency !== undefined) {
    const answered = answeredBefore(context, idempotency);
    if (answered !== undefined) return { workflow: await replay(context, answered.workflowId ?? 0), replayed: true };
  }
  const workflowId = addWorkflow(context, input, []);
  if (idempotency !== undefined) remember(context, idempotency, { items: [], workflowId });
  return { workflow: (await workflow(txOn(context), workflowId)) as Workflow, replayed: false };
}

const decoder = new TextDecoder();

/** Returns the id. The first steps wait for the end of the jobs `after`. */
export function addWorkflow(context: Context, input: NewWorkflowInput, after: readonly number[]): number {
  const first = (context.database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  const earlier = after.map((id) => [id, 'ended'] as const);
  const ends = parentEndsOf(context, [earlier]);
  for (const queue of input.fairQueues) context.fairQueues.add(queue);
  const workflowId = insertRow(context, input);
  const progress = { first, earlier, ends: new Map(ends), counts: openSteps(input.total), stored: 0 };
  const laneIds = input.lanes.map((key) => context.lanes.idOf(key));
  for (const piece of input.pieces) {
    const steps = JSON.parse(decoder.decode(piece.steps)) as NewStepRow[];
    refuseUnknown(context, steps);
    context.database.run(sql.insertSteps, decoder.decode(piece.jobs), context.now, workflowId, first + progress.stored);
    const placed = place(steps, progress);
    insertPiece(context, placed, laneIds);
    insertEdges(context, placed, progress.ends);
    insertGroups(context, placed);
  }
  countEnds(context, workflowId, progress.counts);
  const open = after.filter((id) => ends.get(id) === null);
  if (open.length > 0) context.database.run(sql.markParents, JSON.stringify(open));
  return workflowId;
}

async function replay(context: Context, id: number): Promise<Workflow> {
  const found = await workflow(txOn(context), id);
  if (found === undefined) throw new WorkronError('workflow_not_found', `Workflow ${id} no longer exists`);
  return found;
}

function refuseUnknown({ database }: Context, steps: readonly NewStepRow[]): void {
  for (const [, , , keepFrom] of steps) {
    if (keepFrom === null || database.tuples(sql.specs, keepFrom).length > 0) continue;
    throw new WorkronError('job_not_found', `No job ${keepFrom} whose result could be kept`, { jobId: keepFrom });
  }
}

/** A step as it is inserted. */
interface Placed {
  jobId: number;
  step: NewStepRow;
  dependencies: readonly DependencyRow[];
  flags: number;
  /** `null`: it has ended. */
  live: { status: Status; counters: readonly (number | null)[] } | null;
  end: { status: TerminalStatus; reason: Reason | null } | null;
  source: GroupState['source'] | null;
}

/** The steps inserted so far, as far as later steps depend on them. */
interface Progress {
  /** The id of the first step. */
  first: number;
  /** The dependencies of steps without parents. */
  earlier: readonly DependencyRow[];
  /** Ends of those, and of steps that had ended when they were inserted. */
  ends: Map<number, TerminalStatus | null>;
  counts: StepCounts;
  stored: number;
}

/** Judges steps, parents before their children: some have ended when they are inserted. */
function place(steps: readonly NewStepRow[], progress: Progress): Placed[] {
  const { first, earlier, ends } = progress;
  return steps.map((step) => {
    const [places, condition, forEach, keepFrom, , , claimable, , expiresAt, flags] = step;
    const jobId = first + progress.stored;
    progress.stored += 1;
    const dependencies = places.length === 0 ? earlier : places.map((parent) => [first + parent, condition] as const);
    const counters = ends.size === 0 ? openEdges(dependencies.length) : link(dependencies, ends).counters;
    const fate = keepFrom === null ? judgeEdges(counters, 'together') : 'kept';
    const end = endBy(fate);
    if (end !== null) {
      ends.set(jobId, end.status);
      progress.counts = endStep(progress.counts, { status: end.status, continueOnFailure: false });
    }
    const { open, held, broken, missed } = counters;
    const status = fate === 'wait' ? 'blocked' : forEach === null ? claimable : 'running';
    return {
      jobId,
      step,
      dependencies,
      flags:
        FLAG.inWorkflow |
        flags |
        (forEach === null ? 0 : FLAG.group) |
        (dependencies.length > 0 ? FLAG.hasParents : 0) |
        (expiresAt === null ? FLAG.hasNoStartTimeout : 0),
      live:
        end === null
          ? { status, counters: dependencies.length > 0 ? [open, held, broken, missed] : NO_COUNTERS }
          : null,
      end,
      source: forEach === null ? null : sourceOf(forEach[0], first),
    };
  });
}

const NO_COUNTERS = [null, null, null, null];

function endBy(fate: Fate | 'kept'): Placed['end'] {
  if (fate === 'kept') return { status: 'done', reason: null };
  return typeof fate === 'object' ? { status: 'skipped', reason: fate.skip } : null;
}

function sourceOf(items: NonNullable<NewStepRow[2]>[0], first: number): GroupState['source'] {
  return 'parent' in items ? { parentId: first + items.parent, path: items.path } : items;
}

/** Inserts the workflow with all steps open; `countEnds` corrects it. */
function insertRow({ database, now }: Context, input: NewWorkflowInput): number {
  const { name, params, rerunOf, notify, definition, submittedBy, total } = input;
  const { open, fine, failed, cancelled } = openSteps(total);
  const status = workflowStatus(openSteps(total), false);
  const counts = [total, open, fine, failed, cancelled];
  const made = [definition?.name ?? null, definition?.version ?? null, submittedBy];
  return database.insert(sql.insertWorkflow, name, params, status, now, null, rerunOf, ...counts, notify, ...made);
}

/** Counts the steps that had ended when they were inserted. */
function countEnds({ database, now }: Context, workflowId: number, counts: StepCounts): void {
  const { open, fine, failed, cancelled } = counts;
  if (fine + failed + cancelled === 0) return;
  const status = workflowStatus(counts, false);
  database.run(sql.writeWorkflows, workflowId, status, open > 0 ? null : now, open, fine, failed, cancelled);
}

/** Inserts live rows, final rows and results of steps. */
function insertPiece(context: Context, piece: readonly Placed[], laneIds: readonly number[]): void {
  const { database, now, effects, graphUpdate } = context;
  const write = (statement: string, rows: unknown[], ...more: number[]): void => {
    if (rows.length > 0) database.run(statement, JSON.stringify(rows), ...more);
  };
  write(
    sql.insertStepsLive,
    piece.flatMap(({ jobId, step: [, , , , rank, lane, , dueAt, expiresAt], flags, live }) => {
      if (live === null) return [];
      const { status, counters } = live;
      const isWaiting = status === 'scheduled' || status === 'pending';
      if (status === 'scheduled') effects.willBeDue(dueAt);
      if (status === 'pending') {
        effects.madeWork();
        graphUpdate.claimable(jobId);
      }
      return [[jobId, laneIds[lane], rank, status, dueAt, isWaiting ? expiresAt : null, flags, ...counters]];
    }),
    now,
  );
  write(
    sql.insertStepsEnded,
    piece.flatMap(({ jobId, step, end }) => (end === null ? [] : [[jobId, end.status, end.reason, step[STEP.dueAt]]])),
    now,
  );
  for (const { jobId, step } of piece) {
    const keepFrom = step[STEP.keepFrom];
    if (keepFrom !== null) database.run(sql.keepResult, jobId, keepFrom);
    effects.changedJob(jobId);
  }
}

/** Inserts edges in batches: a step that joins all others has as many as there are steps. */
function insertEdges({ database }: Context, placed: readonly Placed[], ends: ParentEnds): void {
  for (const piece of inPieces(edgeRows(placed, ends), PIECE)) database.run(sql.insertEdges, JSON.stringify(piece));
}

function* edgeRows(placed: readonly Placed[], ends: ParentEnds): Generator<readonly unknown[]> {
  for (const { jobId, dependencies } of placed) {
    for (const [parentId, condition] of dependencies) {
      yield [jobId, parentId, condition, edgeStateFor(condition, ends.get(parentId) ?? null)];
    }
  }
}

function insertGroups({ database, effects }: Context, placed: readonly Placed[]): void {
  for (const { jobId, step, live, source } of placed) {
    if (source === null) continue;
    const isDue = live?.status === 'running';
    const [, maxParallel = null] = step[STEP.forEach] ?? [];
    database.run(sql.insertGroups, jobId, JSON.stringify(source), maxParallel, isDue ? 1 : 0);
    if (isDue) effects.changedGraph();
  }
}
