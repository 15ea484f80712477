/** Gives groups their items. */

import { resolveItems } from '../../../core/dag/group.ts';
import type { GroupState } from '../../../core/dag/workflow.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { Tally } from './effects.ts';
import { countsOf, endGroups, endOf, type FanRow } from './groups.ts';
import type { GroupRow } from './related-jobs.ts';
import { transactAgain } from './retry-transaction.ts';

/** One group, one transaction: whoever dies in the middle has inserted all of a piece or none of it. */
export async function expand(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const due = await context.database.query<{ job_id: number }>(context.sql.dueFans, [limit], signal);
  let count = 0;
  for (const { job_id } of due) {
    if (count >= limit) break;
    const room = limit - count;
    const { done, tally } = await transactAgain(context, signal, async (session) => {
      const ledger = new Tally();
      const filled = await fill(context, session, { groupId: job_id, limit: room, tally: ledger });
      await ledger.write(context, session);
      return { done: filled, tally: ledger };
    });
    tally.tell(context);
    count += done;
  }
  return count;
}

interface Filling {
  groupId: number;
  limit: number;
  tally: Tally;
}

/** How many jobs it inserted or ended. */
async function fill(context: Context, session: Session, { groupId, limit, tally }: Filling): Promise<number> {
  const { sql } = context;
  const ids = numbers([groupId]);
  const [group] = await session.query<GroupRow>(sql.lockGroups, [ids]);
  const [fan] = await session.query<FanRow>(sql.fans, [ids]);
  if (group === undefined || fan === undefined || !fan.due) return 0;
  if (!group.cancelled && fan.total === null) {
    const error = await findItems(context, session, fan);
    if (error !== null) {
      const failure = { reason: 'fatal' as const, error };
      await endGroups(context, session, [{ group, status: 'failed', failure }], tally);
      return 1;
    }
  }
  const inserted = group.cancelled ? 0 : await insertItems(context, session, fan, { limit, tally });
  if (inserted === 0) await session.query(sql.restFan, [groupId]);
  const status = endOf(fan, countsOf(fan), group);
  if (status === undefined) return inserted;
  await endGroups(context, session, [{ group, status }], tally);
  return inserted + 1;
}

/** Answers with what is wrong with the list, if anything is. */
async function findItems({ sql }: Context, session: Session, fan: FanRow): Promise<string | null> {
  const [row] = await session.query<{ source: GroupState['source'] }>(sql.fanSource, [fan.job_id]);
  const stored = row?.source ?? [];
  const parentId = 'parentId' in stored ? stored.parentId : null;
  const [result] =
    parentId === null ? [] : await session.query<{ value: unknown }>(sql.resultOf, [numbers([parentId])]);
  const found = resolveItems(stored, result?.value ?? null);
  if ('error' in found) return found.error;
  await session.query(sql.setItems, [fan.job_id, JSON.stringify(found.items)]);
  fan.total = found.items.length;
  return null;
}

async function insertItems(
  { sql }: Context,
  session: Session,
  fan: FanRow,
  { limit, tally }: { limit: number; tally: Tally },
): Promise<number> {
  const total = fan.total as number;
  const room = Math.min(total - fan.inserted, (fan.max_parallel ?? Infinity) - fan.open_items);
  const wanted = Math.min(room, limit);
  if (wanted <= 0) return 0;
  type Row = { id: number; status: string; due: number };
  const rows = await session.query<Row>(sql.insertItems, [fan.job_id, fan.inserted, wanted, wanted < room]);
  fan.inserted += rows.length;
  fan.open_items += rows.length;
  if (wanted < room) tally.wakeExpander();
  for (const row of rows) {
    tally.changed(row.id);
    tally.stands(row.id, row);
  }
  return rows.length;
}
