/** Inserts the items of groups. */

import { itemsToInsert, resolveItems } from '../../../core/dag/group.ts';
import type { GroupState } from '../../../core/dag/workflow.ts';
import { itemSpec } from '../../../core/gang.ts';
import type { JobSpec } from '../../../core/job.ts';
import { FLAG, specFlags } from '../../flags.ts';
import { encodeSpec, withItem } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { decodeSpecRow, type SpecRow } from '../reads/job-row.ts';
import { askForItems, endGroup, finishGroup, type GroupLive, groupLiveOf, groupOf } from './groups.ts';

export function expand(context: Context, limit: number): number {
  let count = 0;
  for (const [groupId] of context.database.tuples<[number]>(sql.groupsNeedingItems, limit)) {
    if (count >= limit) break;
    count += fill(context, groupId, limit - count);
  }
  return count;
}

/** Returns the number of jobs that it inserted or ended. */
function fill(context: Context, groupId: number, limit: number): number {
  const { database } = context;
  database.run(sql.setNeedsItems, groupId, 0);
  const live = groupLiveOf(context, groupId);
  if (live?.status !== 'running') return 0;
  if (live.cancel_requested_at !== null) return finishGroup(context, groupOf(context, groupId), live) ? 1 : 0;
  const items = itemsOf(context, groupId, live);
  if (items === undefined) return 1;

  const group = groupOf(context, groupId);
  const { inserted, open, max_parallel: maxParallel } = group;
  const { count, more } = itemsToInsert({ total: items.length, inserted, open, maxParallel }, limit);
  if (count > 0)
    insertItems(context, groupId, { values: items.slice(inserted, inserted + count), first: inserted, live });
  if (more) askForItems(context, groupId);
  return finishGroup(context, groupOf(context, groupId), live) ? count + 1 : count;
}

/** Returns the list. A group whose list cannot be found fails, and the answer is `undefined`. */
function itemsOf(context: Context, groupId: number, live: GroupLive): readonly unknown[] | undefined {
  const { database } = context;
  const stored = database.get<{ source: string; items: string | null; total: number | null }>(sql.groupSource, groupId);
  if (stored === undefined) throw new Error(`group ${groupId} is missing`);
  // A literal list is stored once, as the source.
  if (stored.total !== null) return JSON.parse(stored.items ?? stored.source) as unknown[];
  const source = JSON.parse(stored.source) as GroupState['source'];
  const found = resolveItems(source, 'parentId' in source ? resultOf(context, source.parentId) : undefined);
  if ('error' in found) {
    endGroup(context, { groupId, flags: live.flags }, { status: 'failed', reason: 'fatal', error: found.error });
    return undefined;
  }
  const { items } = found;
  database.run(sql.setItems, groupId, 'parentId' in source ? JSON.stringify(items) : null, items.length);
  return items;
}

function resultOf({ database }: Context, jobId: number): unknown {
  const row = database.get<{ value: string }>(sql.resultOf, jobId);
  return row === undefined ? null : JSON.parse(row.value);
}

/** Items are due at once, but not before their group. */
function insertItems(
  context: Context,
  groupId: number,
  { values, first: index, live }: { values: readonly unknown[]; first: number; live: GroupLive },
): void {
  const { database, now, effects, graphUpdate } = context;
  const [row] = database.tuples<SpecRow>(sql.specs, groupId);
  if (row === undefined) throw new Error(`group ${groupId} is missing`);
  const spec = decodeSpecRow(row);
  const specs = itemSpecs(spec, { groupId, index }, values);
  const first = (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  const startTimeoutMs = spec.startTimeoutMs === null ? null : Math.round(spec.startTimeoutMs);
  const flags = FLAG.item | FLAG.inWorkflow | specFlags({ ...spec, notify: [] });
  const { tags } = itemSpec(spec, { groupId, index });
  database.run(sql.insertItems, first, groupId, now, JSON.stringify(specs), JSON.stringify(tags));
  database.run(sql.insertItemsLive, first, groupId, now, startTimeoutMs, flags, specs.length);
  database.run(sql.itemsInserted, groupId, specs.length);
  effects.insertedItems(groupId, specs.length);
  if (live.due > now) effects.willBeDue(live.due);
  else effects.madeWork();
  for (let index = 0; index < specs.length; index += 1) {
    effects.changedJob(first + index);
    graphUpdate.claimable(first + index);
  }
}

function itemSpecs(spec: JobSpec, { groupId, index }: { groupId: number; index: number }, values: readonly unknown[]) {
  const same = encodeSpec(spec);
  return values.map((value, place) => {
    const columns = spec.gang === null ? same : encodeSpec(itemSpec(spec, { groupId, index: index + place }));
    return JSON.stringify(withItem(columns, value).spec);
  });
}
