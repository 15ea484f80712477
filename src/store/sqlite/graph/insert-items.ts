/** Inserts the next items of a group. */

import { itemSpec } from '../../../core/gang.ts';
import type { JobSpec } from '../../../core/job.ts';
import { FLAG, specFlags } from '../../flags.ts';
import { encodeSpec, withItem } from '../../spec.ts';
import type { NewItem, NextItems } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { decodeSpecRow, type SpecRow } from '../reads/job-row.ts';

/** Items are due at once, but not before their group. */
export function insertItems(context: Context, groupId: number, { first: index, count, more }: NextItems): NewItem[] {
  const { database, now } = context;
  const [row] = database.tuples<SpecRow>(sql.specs, groupId);
  const group = database.get<{ items: string; due: number }>(sql.groupItems, groupId);
  if (row === undefined || group === undefined) throw new Error(`group ${groupId} is missing`);
  const spec = decodeSpecRow(row);
  const values = (JSON.parse(group.items) as unknown[]).slice(index, index + count);
  const specs = itemSpecs(spec, { groupId, index }, values);
  const first = (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  const startTimeoutMs = spec.startTimeoutMs === null ? null : Math.round(spec.startTimeoutMs);
  const flags = FLAG.item | FLAG.inWorkflow | specFlags({ ...spec, notify: [] });
  const { tags } = itemSpec(spec, { groupId, index });
  database.run(sql.insertItems, first, groupId, now, JSON.stringify(specs), JSON.stringify(tags));
  database.run(sql.insertItemsLive, first, groupId, now, startTimeoutMs, flags, count);
  database.run(sql.itemsInserted, groupId, count, more ? 1 : 0);
  const status = group.due > now ? 'scheduled' : 'pending';
  return specs.map((_, place) => ({ id: first + place, status, due: group.due }));
}

function itemSpecs(spec: JobSpec, { groupId, index }: { groupId: number; index: number }, values: readonly unknown[]) {
  const same = encodeSpec(spec);
  return values.map((value, place) => {
    const columns = spec.gang === null ? same : encodeSpec(itemSpec(spec, { groupId, index: index + place }));
    return JSON.stringify(withItem(columns, value).spec);
  });
}
