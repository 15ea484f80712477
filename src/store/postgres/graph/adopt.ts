/** What applications' transactions left behind: jobs to be judged, and ends to be told to those they concern. */

import type { Condition } from '../../../core/dag/conditions.ts';
import { isWorkronError } from '../../../core/error.ts';
import { DEFAULT_SPEC, type Dependency } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { relink } from '../jobs/insert-guarded.ts';
import { transactAgain } from './again.ts';
import { lanesOf } from './carrier.ts';
import { Conclusion } from './conclusion.ts';
import { lockConcerned } from './lock-concerned.ts';
import { Locks } from './locks.ts';
import { lockParents, type ParentEnds } from './parents.ts';
import { Tally } from './tally.ts';
import type { Transaction } from './transaction.ts';

interface IntakeRow {
  job_id: number;
  kind: 'submitted' | 'ended';
  wish: { depends_on?: [number, Condition][]; flags?: number };
}

/** Stands for whichever key the job holds. */
const ANY_KEY = { key: '', while: 'active', onConflict: 'existing' } as const;

/** One transaction each: none waits for, or fails with, another. */
export async function adopt(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const rows = await context.database.query<IntakeRow>(context.sql.intake, [limit], signal);
  for (const row of rows) await adoptOne(context, row, signal);
  return rows.length;
}

async function adoptOne(context: Context, row: IntakeRow, signal: AbortSignal): Promise<void> {
  const { sql } = context;
  const tally = await transactAgain(context, signal, async (session) => {
    const transaction = { session, locks: new Locks(context, session), tally: new Tally() };
    // Of several processes one does it.
    const [mine] = await session.query<{ now: number }>(sql.takeIntake, [row.job_id]);
    if (mine === undefined) return transaction.tally;
    transaction.tally.at(mine.now);
    await (row.kind === 'submitted' ? judge : tellEnd)(context, transaction, row);
    await transaction.tally.write(context, session);
    return transaction.tally;
  });
  tally.tell(context);
}

async function judge(context: Context, transaction: Transaction, { job_id: jobId, wish }: IntakeRow): Promise<void> {
  const { sql } = context;
  const { session, locks, tally } = transaction;
  const dependsOn = (wish.depends_on ?? []).map(([parentId, condition]) => ({ jobId: parentId, condition }));
  await lockConcerned(context, transaction, { ends: [jobId], others: dependsOn.map((parent) => parent.jobId) });
  // It may have been cancelled meanwhile.
  if (!locks.holds(jobId)) return;
  const [lane] = await lanesOf(context, session, [{ id: jobId }]);
  const [live] = await session.query<{ flags: number }>(sql.adoptLive, [jobId, lane]);
  if (live === undefined) return;
  tally.changed(jobId);
  const ends = await parentsOf(context, transaction, dependsOn);
  const own = {
    ...DEFAULT_SPEC,
    runAt: null,
    delayMs: null,
    unique: live.flags & FLAG.holdsKey ? ANY_KEY : null,
    dependsOn,
  };
  await relink(context, transaction, { job: own, jobId, flags: live.flags, ends });
  const [now] = await session.query<{ status: string; due: number }>(sql.standing, [jobId]);
  if (now !== undefined) tally.stands(jobId, now);
}

/** A parent that retention has deleted since the submission had ended, and nobody knows how: as if it never held. */
async function parentsOf(
  context: Context,
  transaction: Transaction,
  dependsOn: readonly Dependency[],
): Promise<ParentEnds> {
  try {
    return await lockParents(context, transaction, [{ dependsOn }]);
  } catch (error) {
    if (!isWorkronError(error, 'dependency_unknown')) throw error;
    return new Map(dependsOn.map(({ jobId }) => [jobId, 'skipped']));
  }
}

/** Unless a person has retried it since. */
async function tellEnd(context: Context, transaction: Transaction, { job_id: jobId, wish }: IntakeRow): Promise<void> {
  const again = await transaction.session.query(context.sql.liveOf, [numbers([jobId])]);
  if (again.length > 0) return;
  const flags = (wish.flags ?? 0) & ~FLAG.holdsKey;
  const conclusion = new Conclusion(context, transaction);
  await conclusion.ended([{ jobId, flags, status: 'done', quiet: false }]);
  await conclusion.write();
}
