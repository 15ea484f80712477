/** Looking for what is old is the reader's work, as there may be much to look at; deleting it is the writer's. */

import { IDEMPOTENCY_MS, type Retention } from '../store.ts';
import type { Context } from './context.ts';
import { sql } from './sql.ts';

export interface PruneInput {
  retention: Retention;
  ids: number[];
}

export function findOld(
  { database, now }: Context,
  { retention, limit }: { retention: Retention; limit: number },
): number[] {
  const done = database.tuples<[number]>(sql.oldDone, now - retention.doneMs, limit);
  const undone = database.tuples<[number]>(sql.oldUndone, now - retention.otherMs, limit - done.length);
  return [...done, ...undone].map(([id]) => id);
}

export function prune({ database, now }: Context, { retention, ids }: PruneInput): number {
  database.run(sql.pruneKeys, now);
  database.run(sql.pruneIdempotency, now - IDEMPOTENCY_MS);
  database.run(sql.pruneStats, now - retention.statsMs);
  if (ids.length === 0) return 0;
  const found = JSON.stringify(ids);
  const old = database
    .tuples<[number]>(sql.stillOld, found, now - retention.doneMs, now - retention.otherMs)
    .map(([id]) => id);
  const gone = JSON.stringify(old);
  database.run(sql.pruneLogs, gone);
  database.run(sql.pruneResults, gone);
  database.run(sql.pruneRuns, gone);
  database.run(sql.pruneKeysOf, gone);
  database.run(sql.pruneJobs, gone);
  return old.length;
}
