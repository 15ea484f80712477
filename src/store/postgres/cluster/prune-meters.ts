/** Retention of limits and rates. */

import { lockMeters } from '../../engine/meter-use.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';

/** Starts that one call looks at. */
const WINDOW = 10_000;

/** A row of `metered_start`. */
export interface StartRow {
  name: string;
  at: number;
  job_id: number;
  attempt: number;
}

export const FIRST_START: StartRow = { name: '', at: 0, job_id: 0, attempt: 0 };

/**
 * Deletes starts that nothing counts any more. Goes on from call to call (`Context.prunedStarts`) until it has been through
 * all. An attempt that a transaction of an application has ended leaves its starts until its end is adopted: jobs that wait for
 * its limits may start if they are deleted here.
 */
export async function pruneStarts(context: Context, signal: AbortSignal): Promise<number> {
  const { database, sql, hints, prunedStarts } = context;
  const { name, at, job_id, attempt } = prunedStarts.after;
  type Row = StartRow & { is_left: boolean };
  const rows = await database.query<Row>(sql.leftStarts, [name, at, job_id, attempt, WINDOW], signal);
  prunedStarts.after = (rows.length === WINDOW ? rows.at(-1) : undefined) ?? FIRST_START;
  const names = new Set(rows.flatMap((row) => (row.is_left ? [row.name] : [])));
  if (names.size === 0) return 0;
  const count = await database.transaction(signal, async (session) => {
    await lockMeters(txOn(context, session), new Map([...names].map((each) => [each, 0])));
    const gone = await session.query<{ name: string }>(sql.pruneStarts, [[...names]]);
    const limits = gone.map((row) => row.name).filter((each) => each.startsWith('limit:'));
    await session.query(sql.openParkings, [limits]);
    return gone.length;
  });
  hints.announce({ work: true });
  return count;
}

/** Deletes meters that nothing uses. They are locked first and then looked at again: a claim may have used one meanwhile. */
export async function pruneMeters({ database, sql }: Context, limit: number, signal: AbortSignal): Promise<number> {
  return await database.transaction(signal, async (session) => {
    const unused = await session.query<{ name: string }>(sql.unusedMeters, [limit]);
    if (unused.length > 0) await session.query(sql.pruneMeters, [unused.map(({ name }) => name)]);
    return unused.length;
  });
}
