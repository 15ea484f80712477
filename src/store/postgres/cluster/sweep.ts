/** Deletes rows that nothing needs any more. */

import type { Retention, Sweepable } from '../../duty-store.ts';
import { IDEMPOTENCY_MS } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import type { Statement } from '../base/database.ts';
import { pruneMeters, pruneStarts } from './prune-meters.ts';

export async function sweep(
  context: Context,
  what: Sweepable,
  { statsMs, otherMs }: Retention,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const { database, sql } = context;
  const remove = async (statement: Statement, ...values: number[]): Promise<number> => {
    const [row] = await database.transaction(signal, (session) => session.query<{ count: number }>(statement, values));
    return row?.count ?? 0;
  };
  switch (what) {
    case 'unique_key':
      return await remove(sql.pruneKeys, limit);
    case 'idempotency':
      return await remove(sql.pruneIdempotency, IDEMPOTENCY_MS, limit);
    case 'stat':
      return await remove(sql.pruneStats, statsMs, limit);
    case 'alarm':
      return await remove(sql.pruneAlarms, otherMs, limit);
    case 'metered_start':
      return await pruneStarts(context, signal);
    case 'meter':
      return await pruneMeters(context, limit, signal);
    case 'gang':
      return await pruneGangs(context, limit, signal);
  }
}

/** Goes on from call to call (`Context.prunedGangs`) until it has been through all: most gangs are kept. */
async function pruneGangs(
  { database, sql, prunedGangs }: Context,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await database.transaction(signal, (session) =>
    session.query<{ count: number; last: string | null }>(sql.pruneGangs, [prunedGangs.after, limit]),
  );
  prunedGangs.after = row?.last ?? '';
  return row?.count ?? 0;
}
