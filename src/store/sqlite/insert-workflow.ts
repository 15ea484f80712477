/** A workflow with all its steps. */

import type { Condition } from '../../core/dag/conditions.ts';
import { type Verdict, verdict } from '../../core/dag/judge.ts';
import { endStep, openSteps, workflowStatus } from '../../core/dag/workflow-status.ts';
import { WorkronError } from '../../core/error.ts';
import type { Reason, Status, TerminalStatus } from '../../core/job.ts';
import type { GroupState, InsertOptions, Workflow } from '../store.ts';
import type { Context } from './context.ts';
import { HAS_CHILDREN, HAS_PARENTS, IN_WORKFLOW, IS_GROUP, STARTS_ANY_TIME } from './flags.ts';
import { answeredBefore, remember } from './idempotency.ts';
import { PIECE } from './insert-dependent.ts';
import type { NewJobRow } from './new-job-row.ts';
import { type DependencyRow, type EdgeRow, link, type ParentEnds, parentEndsOf } from './parents.ts';
import { sql } from './sql.ts';
import { decodeWorkflow, type WorkflowRow } from './workflow-row.ts';

/** One step beside the row of its job. Parents are places in the list. */
export type NewStepRow = readonly [
  key: string,
  parents: readonly number[],
  condition: Condition,
  forEach:
    | readonly [items: readonly unknown[] | { parent: number; path: readonly string[] }, maxParallel: number | null]
    | null,
  keepFrom: number | null,
];

export interface InsertWorkflowInput extends InsertOptions {
  /** By which the rows were made. */
  now: number;
  name: string;
  /** As JSON. */
  params: string;
  rerunOf: number | null;
  /** As JSON; `null` for nobody. */
  notify: string | null;
  /** `NewJobRow[]` as JSON, and the keys of the lanes that they point at. */
  rows: string;
  lanes: string[];
  /** Queues of jobs with a fair key. */
  fairQueues: string[];
  /** `NewStepRow[]` as JSON. */
  steps: string;
}

export interface InsertWorkflowAnswer {
  workflow: Workflow;
  replayed: boolean;
}

export function insertWorkflow(sent: Context, input: InsertWorkflowInput): InsertWorkflowAnswer {
  const context = { ...sent, now: input.now };
  const { idempotency } = input;
  if (idempotency !== undefined) {
    const answered = answeredBefore(context, idempotency);
    if (answered !== undefined) return { workflow: replay(context, answered.workflowId ?? 0), replayed: true };
  }
  const workflowId = addWorkflow(context, input, []);
  if (idempotency !== undefined) remember(context, idempotency, { items: [], workflowId });
  return {
    workflow: decodeWorkflow(context.database.get<WorkflowRow>(sql.workflows, workflowId) as WorkflowRow),
    replayed: false,
  };
}

/** Its first steps wait for the end of the jobs `after`. Answers with its id. */
export function addWorkflow(context: Context, input: InsertWorkflowInput, after: readonly number[]): number {
  const steps = JSON.parse(input.steps) as NewStepRow[];
  refuseUnknown(context, steps);
  const first = (context.database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  const earlier = after.map((id) => [id, 'ended'] as const);
  const ends = parentEndsOf(context, [earlier]);
  const placed = place(steps, JSON.parse(input.rows) as NewJobRow[], { first, earlier, ends });
  for (const queue of input.fairQueues) context.fairQueues.add(queue);
  const workflowId = insertRow(context, input, placed);
  insertJobs(context, placed, { workflowId, lanes: input.lanes });
  insertGroups(context, placed);
  const open = after.filter((id) => ends.get(id) === null);
  if (open.length > 0) context.database.run(sql.markParents, JSON.stringify(open));
  return workflowId;
}

function replay({ database }: Context, id: number): Workflow {
  const row = database.get<WorkflowRow>(sql.workflows, id);
  if (row === undefined) throw new WorkronError('workflow_not_found', `Workflow ${id} is there no longer`);
  return decodeWorkflow(row);
}

/** Before anything is stored. */
function refuseUnknown({ database }: Context, steps: readonly NewStepRow[]): void {
  for (const [, , , , keepFrom] of steps) {
    if (keepFrom === null || database.tuples(sql.specs, keepFrom).length > 0) continue;
    throw new WorkronError('job_not_found', `No job ${keepFrom} whose result could be kept`, { jobId: keepFrom });
  }
}

/** A step as it will be stored. */
interface Placed {
  jobId: number;
  step: NewStepRow;
  row: NewJobRow;
  edges: EdgeRow[];
  flags: number;
  /** `null`: it has ended. */
  live: { status: Status; counters: readonly (number | null)[] } | null;
  end: { status: TerminalStatus; reason: Reason | null } | null;
  source: GroupState['source'] | null;
}

interface Beginning {
  /** The id of the first step. */
  first: number;
  /** What steps without parents wait for, and how that stands. */
  earlier: readonly DependencyRow[];
  ends: ParentEnds;
}

/** Judges all steps, parents before their children: some may have ended when they are stored. */
function place(steps: readonly NewStepRow[], rows: readonly NewJobRow[], beginning: Beginning): Placed[] {
  const { first, earlier } = beginning;
  const ends = new Map<number, TerminalStatus | null>(beginning.ends);
  const parents = new Set(steps.flatMap(([, places]) => places));
  return steps.map((step, index) => {
    const [, places, condition, forEach, keepFrom] = step;
    const jobId = first + index;
    const row = rows[index] as NewJobRow;
    const dependencies = places.length === 0 ? earlier : places.map((parent) => [first + parent, condition] as const);
    const { edges, counters } = link(dependencies, ends);
    const fate = keepFrom === null ? verdict(counters, 'together') : 'kept';
    const end = endBy(fate);
    ends.set(jobId, end?.status ?? null);
    const { open, held, broken, missed } = counters;
    const status = fate === 'wait' ? 'blocked' : forEach === null ? row[7] : 'running';
    return {
      jobId,
      step,
      row,
      edges,
      flags:
        IN_WORKFLOW |
        row[10] |
        (forEach === null ? 0 : IS_GROUP) |
        (dependencies.length > 0 ? HAS_PARENTS : 0) |
        (parents.has(index) ? HAS_CHILDREN : 0) |
        (row[9] === null ? STARTS_ANY_TIME : 0),
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

function endBy(fate: Verdict | 'kept'): Placed['end'] {
  if (fate === 'kept') return { status: 'done', reason: null };
  return typeof fate === 'object' ? { status: 'skipped', reason: fate.skip } : null;
}

function sourceOf(items: NonNullable<NewStepRow[3]>[0], first: number): GroupState['source'] {
  return 'parent' in items ? { parentId: first + items.parent, path: items.path } : items;
}

function insertRow({ database, now }: Context, input: InsertWorkflowInput, placed: readonly Placed[]): number {
  const counts = placed.reduce(
    (sum, { end }) => (end === null ? sum : endStep(sum, { status: end.status, continueOnFailure: false })),
    openSteps(placed.length),
  );
  return database.insert(
    sql.insertWorkflow,
    input.name,
    input.params,
    workflowStatus(counts, false),
    now,
    counts.open === 0 ? now : null,
    input.rerunOf,
    placed.length,
    counts.open,
    counts.fine,
    counts.failed,
    counts.cancelled,
    input.notify,
  );
}

/** In pieces: what one statement takes is parsed as a whole. */
function insertJobs(
  context: Context,
  placed: readonly Placed[],
  { workflowId, lanes }: { workflowId: number; lanes: readonly string[] },
): void {
  const laneIds = lanes.map((key) => context.lanes.idOf(key));
  for (let start = 0; start < placed.length; start += PIECE) {
    insertPiece(context, placed.slice(start, start + PIECE), { workflowId, laneIds });
  }
}

function insertPiece(
  context: Context,
  piece: readonly Placed[],
  { workflowId, laneIds }: { workflowId: number; laneIds: readonly number[] },
): void {
  const { database, now, effects, aftermath } = context;
  const write = (statement: string, rows: unknown[], ...more: number[]): void => {
    if (rows.length > 0) database.run(statement, JSON.stringify(rows), ...more);
  };
  write(
    sql.insertSteps,
    piece.map(({ jobId, row, step }) => [jobId, ...row.slice(0, 6), step[0], step[4]]),
    now,
    workflowId,
  );
  write(
    sql.insertStepsLive,
    piece.flatMap(({ jobId, row, flags, live }) => {
      if (live === null) return [];
      const { status, counters } = live;
      const isWaiting = status === 'scheduled' || status === 'pending';
      if (status === 'scheduled') effects.willBeDue(row[8]);
      if (status === 'pending') {
        effects.madeWork();
        aftermath.claimable(jobId);
      }
      return [[jobId, laneIds[row[6]], -row[3], status, row[8], isWaiting ? row[9] : null, flags, ...counters]];
    }),
    now,
  );
  write(
    sql.insertStepsEnded,
    piece.flatMap(({ jobId, row, end }) => (end === null ? [] : [[jobId, end.status, end.reason, row[8]]])),
    now,
  );
  write(
    sql.insertEdges,
    piece.flatMap(({ jobId, edges }) => edges.map((edge) => [jobId, ...edge])),
  );
  for (const { jobId, step } of piece) {
    if (step[4] !== null) database.run(sql.keepResult, jobId, step[4]);
    effects.changedJob(jobId);
  }
}

function insertGroups({ database, effects }: Context, placed: readonly Placed[]): void {
  for (const { jobId, step, live, source } of placed) {
    if (source === null) continue;
    const isDue = live?.status === 'running';
    database.run(sql.insertFans, jobId, JSON.stringify(source), step[3]?.[1] ?? null, isDue ? 1 : 0);
    if (isDue) effects.changedGraph();
  }
}
