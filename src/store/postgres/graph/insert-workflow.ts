import type { NewWorkflow } from '../../../core/dag/new-workflow.ts';
import { type InsertedWorkflow, insertWorkflow as insert } from '../../engine/graph/insert-workflow.ts';
import { outline, STEPS_PER_PIECE } from '../../engine/graph/outline.ts';
import { inPieces, inTurns } from '../../in-pieces.ts';
import type { InsertOptions } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { inTransaction } from '../base/engine.ts';

/** Other work of the process gets its turn between the pieces. */
export async function insertWorkflow(
  context: Context,
  { steps, ...wanted }: NewWorkflow,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<InsertedWorkflow> {
  const known = await inTurns(outline(steps));
  await context.lanes.idsOf(known.lanes, signal);
  return await inTransaction(context, signal, (tx) => {
    return insert(tx, { ...wanted, outline: known, pieces: inPieces(steps, STEPS_PER_PIECE) }, options);
  });
}
