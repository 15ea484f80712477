/** Locks the parents of new jobs: each ends either before its state is read or after the new jobs are inserted. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { NewJob, TerminalStatus } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { unknownParents } from '../../refusals.ts';
import { anyOf, raw, sql } from '../../sql/sql.ts';
import { StartAgain, type Tx } from '../../sql/tx.ts';
import type { ParentEnds } from './edges.ts';
import { existingJobs } from './related-jobs.ts';

type Linked = readonly Pick<NewJob, 'dependsOn'>[];

export function parentIds(jobs: Linked): number[] {
  return [...new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)))];
}

/** Marks live parents as having children. Throws `dependency_unknown` if a parent does not exist. */
export async function lockParents(tx: Tx, jobs: Linked): Promise<ParentEnds> {
  const { locks } = tx;
  const ids = parentIds(jobs);
  await locks.live(ids);
  const live = ids.filter((id) => locks.holds(id));
  const ends = new Map<number, TerminalStatus | null>(live.map((id) => [id, null]));
  for (const { jobId, status, continueOnFailure } of await locks.ended(ids.filter((id) => !ends.has(id)))) {
    ends.set(jobId, countedEnd(status, continueOnFailure));
  }
  await refuseUnknown(
    tx,
    ids.filter((id) => !ends.has(id)),
  );
  await markParents(tx, live);
  return ends;
}

const hasChildren = raw(`${FLAG.hasChildren}`);

export async function markParents(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(
    sql`update live set flags = flags | ${hasChildren} where job_id ${anyOf(ids)} and flags & ${hasChildren} = 0`,
  );
}

/** Parents that are neither live nor ended do not exist, or changed between the two statements. */
async function refuseUnknown(tx: Tx, missing: readonly number[]): Promise<void> {
  if (missing.length === 0) return;
  const known = new Set(await existingJobs(tx, missing));
  const unknown = missing.filter((id) => !known.has(id)).sort((a, b) => a - b);
  if (unknown.length > 0) throw unknownParents(unknown);
  throw new StartAgain();
}
