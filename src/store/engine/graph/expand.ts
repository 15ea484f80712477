/** Inserts the items of groups. */

import { itemsToInsert, resolveItems } from '../../../core/dag/group.ts';
import type { GroupState } from '../../../core/dag/workflow.ts';
import { columns } from '../../sql/columns.ts';
import { anyOf, raw, type Spelling, spelled, sql } from '../../sql/sql.ts';
import { type Stages, staged, type Tx } from '../../sql/tx.ts';
import { countsOf, endGroups, endOf, type Group, groupColumns, groupRow, lockGroups } from './groups.ts';

const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });
const resultRow = columns<{ value: unknown }>({ value: 'json' });
const sourceRow = columns<{ source: GroupState['source'] }>({ source: 'json' });

/** As the databases' partial indexes have it. */
export const needsItems: Spelling = spelled({ sqlite: raw('needs_items = 1'), postgres: raw('needs_items') });

/** One transaction for each group: a process that dies has inserted a whole batch of items, or none of it. */
async function expand(stages: Stages, limit: number): Promise<number> {
  const groups = await stages.tx.all(
    jobRow,
    sql`select job_id from job_group where ${needsItems} order by job_id limit ${limit}`,
  );
  let count = 0;
  for (const { jobId } of groups) {
    if (count >= limit) break;
    const room = limit - count;
    count += await stages.write((tx) => fill(tx, jobId, room));
  }
  return count;
}

/** Returns the number of jobs that it inserted or ended. */
async function fill(tx: Tx, groupId: number, limit: number): Promise<number> {
  const [live] = await lockGroups(tx, [groupId]);
  const group = await tx.get(groupRow, sql`select ${groupColumns} from job_group where job_id = ${groupId}`);
  if (live === undefined || group === undefined || !group.needsItems) return 0;
  if (!live.cancelled && group.total === null) {
    const error = await findItems(tx, group);
    if (error !== null) {
      await endGroups(tx, [{ live, status: 'failed', failure: { reason: 'fatal', error } }]);
      return 1;
    }
  }
  const inserted = live.cancelled ? 0 : await insertItems(tx, group, limit);
  if (inserted === 0) await tx.run(sql`update job_group set needs_items = false where job_id = ${groupId}`);
  const status = endOf(group, countsOf(group), live);
  if (status === undefined) return inserted;
  await endGroups(tx, [{ live, status }]);
  return inserted + 1;
}

/** Finds and stores the list of items. Returns an error message if it cannot be found. */
async function findItems(tx: Tx, group: Group): Promise<string | null> {
  const { jobId } = group;
  const stored = await tx.get(sourceRow, sql`select source from job_group where job_id = ${jobId}`);
  const source = stored?.source ?? [];
  const parentId = 'parentId' in source ? source.parentId : null;
  const result =
    parentId === null
      ? undefined
      : await tx.get(resultRow, sql`select value from result where job_id ${anyOf([parentId])}`);
  const found = resolveItems(source, result?.value ?? null);
  if ('error' in found) return found.error;
  const items = JSON.stringify(found.items);
  // SQLite has a literal list once, as the source.
  const list = spelled({
    sqlite: sql`items = ${parentId === null ? null : items}, total = ${found.items.length}`,
    postgres: sql`items = ${items}`,
  });
  await tx.run(sql`update job_group set ${list} where job_id = ${jobId}`);
  group.total = found.items.length;
  return null;
}

async function insertItems(tx: Tx, group: Group, limit: number): Promise<number> {
  const { jobId, inserted, openItems: open, maxParallel } = group;
  const { count, more } = itemsToInsert({ total: group.total as number, inserted, open, maxParallel }, limit);
  if (count === 0) return 0;
  const items = await tx.insertItems(jobId, { first: inserted, count, more });
  group.inserted += items.length;
  group.openItems += items.length;
  if (more) tx.effects.changedGraph();
  tx.effects.insertedItems(jobId, items.length);
  for (const { id, ...state } of items) {
    tx.effects.changedJob(id);
    tx.graphUpdate.jobIs(id, state);
  }
  return items.length;
}

export const expandMethods = { expand: staged('write', expand) };
