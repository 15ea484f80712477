import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** Whom a job's end or reopening concerns beside its children. */
export type JobScopeRow = readonly [
  jobId: number,
  workflowId: number | null,
  groupId: number | null,
  continueOnFailure: number,
];

export function scopesOf({ database }: Context, jobIds: readonly number[]): JobScopeRow[] {
  const found = database.tuples<JobScopeRow>(sql.scopes, JSON.stringify(jobIds));
  if (found.length !== jobIds.length) throw new Error(`one of the jobs ${jobIds.join(', ')} is missing`);
  return found;
}
