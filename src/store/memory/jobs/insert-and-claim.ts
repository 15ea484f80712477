import type { NewJob } from '../../../core/job.ts';
import type { ClaimRequest, InsertedAndClaimed } from '../../job-store.ts';
import type { Tables } from '../base/tables.ts';
import { claim } from './claim.ts';
import { insert } from './insert.ts';
import { giveTurnsTo } from './turns.ts';

export function insertAndClaim(tables: Tables, jobs: readonly NewJob[], request: ClaimRequest): InsertedAndClaimed {
  const { items } = insert(tables, jobs, {});
  giveTurnsTo(tables, tables.newcomers);
  tables.newcomers.clear();
  const worker = tables.workers.get(request.workerId);
  const mayClaim = worker !== undefined && !worker.offline;
  return { items, claimed: mayClaim ? claim(tables, request) : [] };
}
