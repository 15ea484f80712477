/** Inserts the items of groups. */

import { itemsToInsert, resolveItems } from '../../../core/dag/group.ts';
import { itemSpec } from '../../../core/gang.ts';
import { copyJson, copySpec } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { free } from '../jobs/free.ts';
import { addEntry } from '../jobs/new-entry.ts';
import { askForItems, finishGroup, type GroupEntry } from './groups.ts';

export function expand(tables: Tables, limit: number): number {
  let count = 0;
  for (const entry of [...tables.needItems].sort((a, b) => a.id - b.id)) {
    if (count >= limit) break;
    count += fill(tables, entry as GroupEntry, limit - count);
  }
  return count;
}

/** Returns the number of jobs that it inserted or ended. */
function fill(tables: Tables, entry: GroupEntry, limit: number): number {
  tables.needItems.delete(entry);
  if (entry.status !== 'running') return 0;
  if (entry.cancelRequestedAt !== null) return finishGroup(tables, entry) ? 1 : 0;
  const items = itemsOf(tables, entry);
  if (items === undefined) return 1;

  const { group } = entry;
  const { itemIds, counts, maxParallel } = group;
  const progress = { total: items.length, inserted: itemIds.length, open: counts.open, maxParallel };
  const { count, more } = itemsToInsert(progress, limit);
  for (let added = 0; added < count; added += 1) insertItem(tables, entry, items);
  if (count > 0) tables.changes.insertedItems(entry.id, count);
  if (more) askForItems(tables, entry);
  return finishGroup(tables, entry) ? count + 1 : count;
}

/** Returns the list. A group whose list cannot be found fails, and the answer is `undefined`. */
function itemsOf(tables: Tables, entry: GroupEntry): readonly unknown[] | undefined {
  const { group } = entry;
  if (group.items !== null) return group.items;
  const parent = 'parentId' in group.source ? tables.jobs.get(group.source.parentId) : undefined;
  const found = resolveItems(group.source, parent?.result);
  if ('items' in found) {
    group.items = copyJson(found.items);
    return group.items;
  }
  end(tables, entry, { status: 'failed', reason: 'fatal', record: null, error: found.error });
  tables.changes.endedByGraph(entry.id);
  return undefined;
}

/** An item is due at once, but not before its group. */
function insertItem(tables: Tables, entry: GroupEntry, items: readonly unknown[]): void {
  const { group } = entry;
  const index = group.itemIds.length;
  const item: Entry = addEntry(tables, {
    spec: itemSpec(copySpec(entry.spec), { groupId: entry.id, index }),
    dueAt: Math.max(entry.dueAt, tables.clock.now()),
    origin: { workflowId: entry.workflowId, stepKey: entry.stepKey, groupId: entry.id, groupIndex: index },
    item: items[index],
  });
  group.itemIds.push(item.id);
  group.counts = { ...group.counts, open: group.counts.open + 1 };
  free(tables, item);
}
