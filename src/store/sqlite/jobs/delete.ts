import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { removeJobs, removeWorkflow } from '../cluster/prune.ts';

export function deleteJobs(context: Context, ids: readonly number[]): number[] {
  const deletable = context.database.tuples<[number]>(sql.deletableJobs, JSON.stringify(ids)).map(([id]) => id);
  removeJobs(context, deletable);
  return deletable;
}

export function deleteWorkflow(context: Context, id: number): boolean {
  if (context.database.tuples(sql.deletableWorkflow, id).length === 0) return false;
  removeWorkflow(context, id);
  return true;
}
