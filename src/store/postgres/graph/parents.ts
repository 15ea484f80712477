/** Locks the parents of new jobs: each ends either before its state is read or after the new jobs are inserted. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { NewJob, TerminalStatus } from '../../../core/job.ts';
import { unknownParents } from '../../refusals.ts';
import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import type { Transaction } from './transaction.ts';

/** Counted ends by id; `null` for a parent that has not ended. */
export type ParentEnds = ReadonlyMap<number, TerminalStatus | null>;

export function parentIds(jobs: readonly Pick<NewJob, 'dependsOn'>[]): number[] {
  return [...new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)))];
}

/** Marks live parents as having children. Throws `dependency_unknown` if a parent does not exist. */
export async function lockParents(
  { sql }: Context,
  { session, locks }: Pick<Transaction, 'session' | 'locks'>,
  jobs: readonly Pick<NewJob, 'dependsOn'>[],
): Promise<ParentEnds> {
  const ids = parentIds(jobs);
  await locks.live(ids);
  const live = ids.filter((id) => locks.holds(id));
  const ends = new Map<number, TerminalStatus | null>(live.map((id) => [id, null]));
  for (const { job_id, status, continues } of await locks.ended(ids.filter((id) => !ends.has(id)))) {
    ends.set(job_id, countedEnd(status, continues));
  }
  await refuseUnknown(
    sql,
    session,
    ids.filter((id) => !ends.has(id)),
  );
  if (live.length > 0) await session.query(sql.markParents, [numbers(live)]);
  return ends;
}

/** Parents that are neither live nor ended do not exist, or changed between the two statements. */
async function refuseUnknown(sql: Context['sql'], session: Session, missing: readonly number[]): Promise<void> {
  if (missing.length === 0) return;
  const rows = await session.query<{ id: number }>(sql.existingJobs, [numbers(missing)]);
  const known = new Set(rows.map(({ id }) => id));
  const unknown = missing.filter((id) => !known.has(id)).sort((a, b) => a - b);
  if (unknown.length > 0) throw unknownParents(unknown);
  throw new StartAgain();
}
