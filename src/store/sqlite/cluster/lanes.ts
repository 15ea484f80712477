/** Deletes lanes that nothing uses. */

import type { LaneMark } from '../../../core/lane.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** From now on, who inserts a job looks its lane up, and so makes the mark void. */
export function markLanes({ database, lanes, now }: Context, limit: number): LaneMark[] {
  lanes.forget();
  return database.all<{ id: number; mark: number }>(sql.markLanes, limit, now);
}

/** The marked lanes without jobs, found by the reader: jobs that are inserted from now on make the marks void. */
export function withoutJobs({ database }: Context, marks: readonly LaneMark[]): LaneMark[] {
  const used = new Set(database.tuples<[number]>(sql.usedLanes).map(([id]) => id));
  return marks.filter(({ id }) => !used.has(id));
}

export function deleteLanes({ database, lanes, heads }: Context, marks: readonly LaneMark[]): number {
  const deleted = marks.reduce((count, { id, mark }) => count + database.run(sql.deleteLanes, id, mark), 0);
  lanes.forget();
  heads.forget();
  return deleted;
}
