/** Gives groups their items. */

import { resolveItems } from '../../../core/dag/group.ts';
import { copyJson, copySpec } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { end } from '../jobs/finish.ts';
import { free } from '../jobs/free.ts';
import { addEntry } from '../jobs/new-entry.ts';
import { finishGroup, type GroupEntry, wakeGroup } from './groups.ts';

export function expand(tables: Tables, limit: number): number {
  let count = 0;
  for (const group of [...tables.due].sort((a, b) => a.id - b.id)) {
    if (count >= limit) break;
    count += fill(tables, group as GroupEntry, limit - count);
  }
  return count;
}

/** How many jobs it inserted or ended. */
function fill(tables: Tables, group: GroupEntry, limit: number): number {
  tables.due.delete(group);
  if (group.status !== 'running') return 0;
  if (group.cancelRequestedAt !== null) return finishGroup(tables, group) ? 1 : 0;
  const items = itemsOf(tables, group);
  if (items === undefined) return 1;

  const { fan } = group;
  const room = Math.min(items.length - fan.itemIds.length, (fan.maxParallel ?? Infinity) - fan.counts.open);
  const count = Math.max(0, Math.min(room, limit));
  for (let added = 0; added < count; added += 1) insertItem(tables, group, items);
  if (count < room) wakeGroup(tables, group);
  return finishGroup(tables, group) ? count + 1 : count;
}

/** The list, found where it is not known yet; a group that has none ends, and there is no answer. */
function itemsOf(tables: Tables, group: GroupEntry): readonly unknown[] | undefined {
  const { fan } = group;
  if (fan.items !== null) return fan.items;
  const parent = 'parentId' in fan.source ? tables.jobs.get(fan.source.parentId) : undefined;
  const found = resolveItems(fan.source, parent?.result);
  if ('items' in found) {
    fan.items = copyJson(found.items);
    return fan.items;
  }
  end(tables, group, { status: 'failed', reason: 'fatal', record: null, error: found.error });
  return undefined;
}

/** Due when it is there, and not before its group is. */
function insertItem(tables: Tables, group: GroupEntry, items: readonly unknown[]): void {
  const { fan } = group;
  const index = fan.itemIds.length;
  const item: Entry = addEntry(tables, {
    spec: copySpec(group.spec),
    dueAt: Math.max(group.dueAt, tables.clock.now()),
    origin: { workflowId: group.workflowId, stepKey: group.stepKey, groupId: group.id, groupIndex: index },
    item: items[index],
  });
  fan.itemIds.push(item.id);
  fan.counts = { ...fan.counts, open: fan.counts.open + 1 };
  free(tables, item);
}
