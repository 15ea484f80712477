import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

/** Whom a job's end or reopening concerns beside its children. */
export type Belongings = readonly [
  jobId: number,
  workflowId: number | null,
  groupId: number | null,
  continueOnFailure: number,
];

export function belongingsOf({ database }: Context, jobIds: readonly number[]): Belongings[] {
  const found = database.tuples<Belongings>(sql.kin, JSON.stringify(jobIds));
  if (found.length !== jobIds.length) throw new Error(`one of the jobs ${jobIds.join(', ')} is missing`);
  return found;
}
