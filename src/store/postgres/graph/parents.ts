/** The jobs that new ones depend on, locked: they end either before we look at them or after the new ones are there. */

import { countedEnd } from '../../../core/dag/conditions.ts';
import type { NewJob, TerminalStatus } from '../../../core/job.ts';
import { unknownParents } from '../../refusals.ts';
import type { Context } from '../context.ts';
import type { Session } from '../database.ts';
import { numbers } from '../values.ts';
import { Moved } from './again.ts';

/** The end of each parent, as its children count it; `null` where it has not ended. */
export type ParentEnds = ReadonlyMap<number, TerminalStatus | null>;

/** Marks those that have not ended as having children. An unknown one throws `dependency_unknown`. */
export async function lockParents(
  { sql }: Context,
  session: Session,
  jobs: readonly Pick<NewJob, 'dependsOn'>[],
): Promise<ParentEnds> {
  const ids = [...new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)))];
  const ends = new Map<number, TerminalStatus | null>();
  if (ids.length === 0) return ends;
  const locks =
    ids.length === 1 ? [sql.lockParent] : [sql.lockRunningParents, sql.lockWaitingParents, sql.lockGroupParents];
  for (const lock of locks) {
    const rest = ids.filter((id) => !ends.has(id));
    if (rest.length === 0) break;
    for (const { job_id } of await session.query<{ job_id: number }>(lock, [numbers(rest)])) ends.set(job_id, null);
  }
  const live = [...ends.keys()];
  const rest = ids.filter((id) => !ends.has(id));
  if (rest.length > 0) {
    type Row = { job_id: number; status: TerminalStatus; continues: boolean };
    const rows = await session.query<Row>(sql.lockEndedParents, [numbers(rest)]);
    for (const { job_id, status, continues } of rows) ends.set(job_id, countedEnd(status, continues));
  }
  await refuseUnknown(
    sql,
    session,
    ids.filter((id) => !ends.has(id)),
  );
  if (live.length > 0) await session.query(sql.markParents, [numbers(live)]);
  return ends;
}

/** Of those that are neither live nor ended, some do not exist; the others moved between the two looks. */
async function refuseUnknown(sql: Context['sql'], session: Session, missing: readonly number[]): Promise<void> {
  if (missing.length === 0) return;
  const rows = await session.query<{ id: number }>(sql.existingJobs, [numbers(missing)]);
  const known = new Set(rows.map(({ id }) => id));
  const unknown = missing.filter((id) => !known.has(id)).sort((a, b) => a - b);
  if (unknown.length > 0) throw unknownParents(unknown);
  throw new Moved();
}
