/** Inserts the items of groups. */

import { itemsToInsert, resolveItems } from '../../../core/dag/group.ts';
import type { GroupState } from '../../../core/dag/workflow.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { TransactionEffects } from './effects.ts';
import { countsOf, endGroups, endOf, type GroupRow } from './groups.ts';
import type { GroupLive } from './related-jobs.ts';
import { retryTransaction } from './retry-transaction.ts';

/** One transaction for each group: a process that dies has inserted a whole batch of items, or none of it. */
export async function expand(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const groups = await context.database.query<{ job_id: number }>(context.sql.groupsNeedingItems, [limit], signal);
  let count = 0;
  for (const { job_id } of groups) {
    if (count >= limit) break;
    const room = limit - count;
    const { done, effects } = await retryTransaction(context, signal, async (session) => {
      const effects = new TransactionEffects();
      const filled = await fill(context, session, { groupId: job_id, limit: room, effects });
      await effects.write(context, session);
      return { done: filled, effects };
    });
    effects.publish(context);
    count += done;
  }
  return count;
}

interface Filling {
  groupId: number;
  limit: number;
  effects: TransactionEffects;
}

/** Returns the number of jobs that it inserted or ended. */
async function fill(context: Context, session: Session, { groupId, limit, effects }: Filling): Promise<number> {
  const { sql } = context;
  const ids = numbers([groupId]);
  const [live] = await session.query<GroupLive>(sql.lockGroups, [ids]);
  const [group] = await session.query<GroupRow>(sql.groups, [ids]);
  if (live === undefined || group === undefined || !group.needs_items) return 0;
  if (!live.cancelled && group.total === null) {
    const error = await findItems(context, session, group);
    if (error !== null) {
      const failure = { reason: 'fatal' as const, error };
      await endGroups(context, session, [{ live, status: 'failed', failure }], effects);
      return 1;
    }
  }
  const inserted = live.cancelled ? 0 : await insertItems(context, session, group, { limit, effects });
  if (inserted === 0) await session.query(sql.restGroup, [groupId]);
  const status = endOf(group, countsOf(group), live);
  if (status === undefined) return inserted;
  await endGroups(context, session, [{ live, status }], effects);
  return inserted + 1;
}

/** Finds and stores the list of items. Returns an error message if it cannot be found. */
async function findItems({ sql }: Context, session: Session, group: GroupRow): Promise<string | null> {
  const [row] = await session.query<{ source: GroupState['source'] }>(sql.groupSource, [group.job_id]);
  const stored = row?.source ?? [];
  const parentId = 'parentId' in stored ? stored.parentId : null;
  const [result] =
    parentId === null ? [] : await session.query<{ value: unknown }>(sql.resultOf, [numbers([parentId])]);
  const found = resolveItems(stored, result?.value ?? null);
  if ('error' in found) return found.error;
  await session.query(sql.setItems, [group.job_id, JSON.stringify(found.items)]);
  group.total = found.items.length;
  return null;
}

async function insertItems(
  { sql }: Context,
  session: Session,
  group: GroupRow,
  { limit, effects }: { limit: number; effects: TransactionEffects },
): Promise<number> {
  const total = group.total as number;
  const { inserted, open_items: open, max_parallel: maxParallel } = group;
  const { count, more } = itemsToInsert({ total, inserted, open, maxParallel }, limit);
  if (count === 0) return 0;
  type Row = { id: number; status: string; due: number };
  const rows = await session.query<Row>(sql.insertItems, [group.job_id, inserted, count, more]);
  group.inserted += rows.length;
  group.open_items += rows.length;
  if (more) effects.changedGraph();
  effects.insertedItems(group.job_id, rows.length);
  for (const row of rows) {
    effects.changedJob(row.id);
    effects.jobIs(row.id, row);
  }
  return rows.length;
}
