/** Jobs whose ends and reopenings still have to reach their children: the table `cascade`. */

import type { CascadeMode } from '../../../core/dag/propagate.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { propagateFrom } from './propagate.ts';

/** Goes down from these jobs, level by level, until about `limit` jobs are done. Returns their number. */
export function cascade(context: Context, limit: number): number {
  let level = new Map(context.database.tuples<[number, CascadeMode]>(sql.cascadeHeads, limit));
  let count = 0;
  while (level.size > 0) {
    propagateFrom(context, level);
    count += level.size;
    level = context.graphUpdate.takeQueued();
    if (count + level.size > limit) break;
  }
  if (level.size > 0) queueCascade(context, level);
  return count;
}

/** Leaves the children of these jobs to a later call. */
export function queueCascade({ database, effects }: Context, parents: ReadonlyMap<number, CascadeMode>): void {
  database.run(sql.queueCascade, JSON.stringify([...parents]));
  effects.changedGraph();
}
