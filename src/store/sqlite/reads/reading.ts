import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { idOf, type JobRow } from './job-row.ts';

/** Unknown ids are left out; an id that is given twice is returned twice. */
export function read({ database }: Context, ids: readonly number[]): JobRow[] {
  if (ids.length === 0) return [];
  const byId = new Map(database.tuples<JobRow>(sql.jobs, JSON.stringify(ids)).map((row) => [idOf(row), row]));
  return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
}
