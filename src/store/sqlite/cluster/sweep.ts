/** Deletes rows that nothing needs any more. Where no index finds them, the reader does. */

import type { Retention, Sweepable } from '../../duty-store.ts';
import { IDEMPOTENCY_MS } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** The keys of up to `limit` rows to look at; for meters, of those whose starts are to be looked at. */
export function findSwept({ database, now }: Context, what: Sweepable, limit: number): string[] | null {
  const keys = (statement: string, ...values: number[]) =>
    database.tuples<[string]>(statement, ...values).map(([key]) => key);
  switch (what) {
    case 'metered_start':
      return keys(sql.leftStarts, now, limit);
    case 'meter':
      return keys(sql.unusedMeters, now, limit);
    case 'gang':
      return keys(sql.leftGangs, limit);
    default:
      return null;
  }
}

/** `found`: what the reader has found; looked at again, as it may be in use since. */
export function sweep(
  context: Context,
  what: Sweepable,
  { retention, limit, found }: { retention: Retention; limit: number; found: readonly string[] | null },
): number {
  const { database, now } = context;
  const keys = JSON.stringify(found);
  switch (what) {
    case 'unique_key':
      return database.run(sql.pruneKeys, now, limit);
    case 'idempotency':
      return database.run(sql.pruneIdempotency, now - IDEMPOTENCY_MS, limit);
    case 'stat':
      return database.run(sql.pruneStats, now - retention.statsMs, limit);
    case 'alarm':
      return database.run(sql.pruneAlarms, now - retention.otherMs, limit);
    case 'metered_start':
      return pruneStarts(context, keys);
    case 'meter':
      return database.run(sql.pruneMeters, now, keys);
    case 'gang':
      return database.run(sql.pruneGangs, keys);
  }
}

/** An attempt that an application's transaction has ended leaves its starts until its end is adopted: jobs may wait for them. */
function pruneStarts({ database, now, effects }: Context, meters: string): number {
  const gone = database.tuples<[string]>(sql.pruneStarts, now, meters).map(([name]) => name);
  const limits = gone.filter((name) => name.startsWith('limit:'));
  if (database.run(sql.openParkings, JSON.stringify(limits)) > 0) effects.madeRoom();
  return gone.length;
}
