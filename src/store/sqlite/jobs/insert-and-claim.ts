import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { Aftermath } from '../graph/aftermath.ts';
import { type ClaimAnswer, claim } from './claim.ts';
import { type InsertAnswer, type InsertInput, insert } from './insert.ts';

/** Jobs that take turns get them before the claim. */
export function insertAndClaim(
  context: Context,
  jobs: InsertInput,
  request: ClaimRequest,
): { inserted: InsertAnswer; claimed: ClaimAnswer | null } {
  const aftermath = new Aftermath();
  const inserted = insert({ ...context, aftermath }, jobs);
  aftermath.finish(context);
  const worker = context.database.get<{ state: string }>(sql.workerState, request.workerId);
  const mayClaim = worker !== undefined && worker.state !== 'offline';
  return { inserted, claimed: mayClaim ? claim(context, request) : null };
}
