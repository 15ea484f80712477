/** A new workflow as it is sent to the writer's thread: its steps in buffers, which are transferred. */

import type { NewStep, NewSteps, NewWorkflow } from '../../../core/dag/new-workflow.ts';
import { DEFAULT_SPEC, type NewJob } from '../../../core/job.ts';
import {
  type InsertedWorkflow,
  insertWorkflow as insert,
  type WorkflowInput,
} from '../../engine/graph/insert-workflow.ts';
import { outline, STEPS_PER_PIECE } from '../../engine/graph/outline.ts';
import { inTurns } from '../../in-pieces.ts';
import type { InsertOptions } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';

/** A piece ends earlier when it has this many characters. */
const ENOUGH_PER_PIECE = 1024 * 1024;

/** Consecutive steps, as JSON in UTF-8. */
type EncodedPiece = Uint8Array<ArrayBuffer>;

interface EncodedWorkflow extends Omit<WorkflowInput, 'pieces'> {
  pieces: EncodedPiece[];
}

/** Encodes the workflow, and yields to other work after each piece: there may be 100,000 steps. */
export async function encodeNewWorkflow({ steps, ...workflow }: NewWorkflow): Promise<EncodedWorkflow> {
  const known = await inTurns(outline(steps));
  return { ...workflow, outline: known, pieces: await inTurns(encodePieces(steps)) };
}

function* encodePieces(steps: NewSteps): Generator<undefined, EncodedPiece[]> {
  const encoder = new TextEncoder();
  const pieces: EncodedPiece[] = [];
  let [piece, size, place]: [string[], number, number] = [[], 0, 0];
  for (const step of steps) {
    const text = JSON.stringify({ ...step, job: withoutDefaults(step.job) });
    piece.push(text);
    size += text.length;
    place += 1;
    if (piece.length < STEPS_PER_PIECE && size < ENOUGH_PER_PIECE && place < steps.length) continue;
    pieces.push(encoder.encode(`[${piece.join(',')}]`));
    [piece, size] = [[], 0];
    yield;
  }
  return pieces;
}

/** Decodes piece by piece, so that a large workflow is never decoded as a whole. */
export function insertWorkflow(
  context: Context,
  { pieces, ...workflow }: EncodedWorkflow,
  options: InsertOptions,
): Promise<InsertedWorkflow> {
  return insert(txOn(context), { ...workflow, pieces: decoded(pieces) }, options);
}

function* decoded(pieces: readonly EncodedPiece[]): Generator<NewStep[]> {
  const decoder = new TextDecoder();
  for (const piece of pieces) {
    const steps = JSON.parse(decoder.decode(piece)) as NewStep[];
    yield steps.map((step) => ({ ...step, job: { ...DEFAULT_JOB, ...step.job } }));
  }
}

const DEFAULT_JOB: NewJob = { ...DEFAULT_SPEC, runAt: null, delayMs: null, unique: null, dependsOn: [] };

/** Most properties of most jobs have them: a third is left to send and to decode. */
function withoutDefaults(job: NewJob): Partial<NewJob> {
  return Object.fromEntries(Object.entries(job).filter(([name, value]) => !isDefault(name as keyof NewJob, value)));
}

function isDefault(name: keyof NewJob, value: unknown): boolean {
  const usual: unknown = DEFAULT_JOB[name];
  return value === usual || (isEmptyList(value) && isEmptyList(usual));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
