/** Workers whose processes seem to have ended. */

import type { Unlocked } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';

export async function findUnlocked({ database, sql }: Context, signal: AbortSignal): Promise<Unlocked> {
  type Row = { started_at: number } & ({ id: number; seen_at: number } | { id: null });
  const rows = await database.query<Row>(sql.unlockedWorkers, [], signal);
  return {
    workers: rows.flatMap((row) => (row.id === null ? [] : [{ id: row.id, seenAt: row.seen_at }])),
    serverStartedAt: rows[0]?.started_at ?? 0,
  };
}
