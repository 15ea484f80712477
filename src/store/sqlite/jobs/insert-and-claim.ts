import { GraphUpdate } from '../../engine/graph/graph-update.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import { type ClaimAnswer, claim, type WorkerState } from './claim.ts';
import { type InsertAnswer, type InsertInput, insert } from './insert.ts';

/** Jobs that take turns get them before the claim. */
export async function insertAndClaim(
  context: Context,
  jobs: InsertInput,
  request: ClaimRequest,
): Promise<{ inserted: InsertAnswer; claimed: ClaimAnswer | null }> {
  const own = { ...context, graphUpdate: new GraphUpdate(context.effects) };
  const inserted = insert(own, jobs);
  if (!own.graphUpdate.isEmpty) await own.graphUpdate.write(txOn(own));
  const worker = context.database.get<WorkerState>(sql.workerState, request.workerId, context.now);
  const mayClaim = worker !== undefined && worker.state !== 'offline';
  return { inserted, claimed: mayClaim ? await claim(context, request) : null };
}
