/** Encodes a new workflow for the writer's thread. */

import type { NewStep, NewWorkflow } from '../../../core/dag/new-workflow.ts';
import { FLAG } from '../../flags.ts';
import { LanePlaces, type NewJobRow, newJobRow } from '../jobs/new-job-row.ts';
import type { NewStepRow, NewStepsPiece, NewWorkflowInput } from './insert-workflow.ts';

/** Steps that are encoded, and stored, together. */
const STEPS_PER_PIECE = 500;
/** A piece ends earlier when its jobs have this many characters. */
const ENOUGH_PER_PIECE = 1024 * 1024;

/** Encodes the workflow at once, for callers in the writer's thread. */
export function encodeNewWorkflow(workflow: NewWorkflow, now: number): NewWorkflowInput {
  const encoding = encodePieces(workflow, now);
  for (;;) {
    const { done, value } = encoding.next();
    if (done) return value;
  }
}

/** Encodes the workflow, and yields to other work after each piece: there may be 100,000 steps. */
export async function encodeNewWorkflowInTurns(workflow: NewWorkflow, now: number): Promise<NewWorkflowInput> {
  const encoding = encodePieces(workflow, now);
  for (;;) {
    const { done, value } = encoding.next();
    if (done) return value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The caller may pause wherever it yields. */
function* encodePieces(
  { name, params, steps, rerunOf, notify, definition, submittedBy }: NewWorkflow,
  now: number,
): Generator<undefined, NewWorkflowInput> {
  const hasChildren = yield* markParents(steps);
  const lanes = new LanePlaces();
  const fairQueues = new Set<string>();
  const pieces: NewStepsPiece[] = [];
  let piece = new Piece();
  let place = 0;
  for (const step of steps) {
    piece.add(step, newJobRow(step.job, { now, lanes, flags: hasChildren[place] === 1 ? FLAG.hasChildren : 0 }));
    place += 1;
    if (step.job.fairKey !== null) fairQueues.add(step.job.queue);
    if (!piece.isFull && place < steps.length) continue;
    pieces.push(piece.encode());
    piece = new Piece();
    yield;
  }
  return {
    name,
    params: JSON.stringify(params),
    rerunOf,
    definition: definition ?? null,
    submittedBy: submittedBy ?? null,
    notify: notify === undefined || notify.length === 0 ? null : JSON.stringify(notify),
    total: steps.length,
    pieces,
    lanes: lanes.keys,
    fairQueues: [...fairQueues],
  };
}

/** Returns 1 for each step that has children, by its place in the list. */
function* markParents(steps: NewWorkflow['steps']): Generator<undefined, Uint8Array> {
  const marks = new Uint8Array(steps.length);
  let seen = 0;
  for (const { parents } of steps) {
    for (const parent of parents) marks[parent] = 1;
    seen += 1;
    if (seen % STEPS_PER_PIECE === 0) yield;
  }
  return marks;
}

/** Steps that are stored together. */
class Piece {
  readonly #jobs: string[] = [];
  readonly #steps: NewStepRow[] = [];
  #size = 0;

  get isFull(): boolean {
    return this.#steps.length >= STEPS_PER_PIECE || this.#size >= ENOUGH_PER_PIECE;
  }

  add({ key, parents, condition, forEach, keepFrom }: NewStep, row: NewJobRow): void {
    const [queue, kind, name, priority, tags, spec, ...place] = row;
    const job = JSON.stringify([queue, kind, name, priority, tags, spec, key, keepFrom]);
    const group = forEach === null ? null : ([forEach.items, forEach.maxParallel] as const);
    this.#jobs.push(job);
    this.#steps.push([parents, condition, group, keepFrom, -priority, ...place]);
    this.#size += job.length;
  }

  /** In a buffer of its own, which can be transferred to the thread. */
  encode(): NewStepsPiece {
    const encoder = new TextEncoder();
    return { jobs: encoder.encode(`[${this.#jobs.join(',')}]`), steps: encoder.encode(JSON.stringify(this.#steps)) };
  }
}
