/** Intake: jobs that applications inserted or completed in their own transactions, judged after the commit. */

import type { Condition } from '../../../core/dag/conditions.ts';
import { isWorkronError } from '../../../core/error.ts';
import { DEFAULT_SPEC, type Dependency } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { relink } from '../jobs/replace.ts';
import { TransactionEffects } from './effects.ts';
import { GraphUpdate } from './graph-update.ts';
import { lockAffected } from './lock-affected.ts';
import { Locks } from './locks.ts';
import { lockParents, type ParentEnds } from './parents.ts';
import { lanesOf } from './reopen.ts';
import { retryTransaction } from './retry-transaction.ts';
import type { Transaction } from './transaction.ts';

interface IntakeRow {
  job_id: number;
  kind: 'submitted' | 'ended';
  request: { depends_on?: [number, Condition][]; flags?: number };
}

/** A placeholder for the key that the job holds: only its existence matters here. */
const ANY_KEY = { key: '', while: 'active', onConflict: 'existing' } as const;

/** Adopts each row in its own transaction, so that no row waits for or fails with another. */
export async function adopt(context: Context, limit: number, signal: AbortSignal): Promise<number> {
  const rows = await context.database.query<IntakeRow>(context.sql.intake, [limit], signal);
  for (const row of rows) await adoptOne(context, row, signal);
  return rows.length;
}

async function adoptOne(context: Context, row: IntakeRow, signal: AbortSignal): Promise<void> {
  const { sql } = context;
  const effects = await retryTransaction(context, signal, async (session) => {
    const transaction = { session, locks: new Locks(context, session), effects: new TransactionEffects() };
    // If several processes adopt at once, only the one that deletes the row continues.
    const [mine] = await session.query<{ now: number }>(sql.takeIntake, [row.job_id]);
    if (mine === undefined) return transaction.effects;
    transaction.effects.at(mine.now);
    await (row.kind === 'submitted' ? judge : propagateEnd)(context, transaction, row);
    await transaction.effects.write(context, session);
    return transaction.effects;
  });
  effects.publish(context);
}

async function judge(context: Context, transaction: Transaction, { job_id: jobId, request }: IntakeRow): Promise<void> {
  const { sql } = context;
  const { session, locks, effects } = transaction;
  const dependsOn = (request.depends_on ?? []).map(([parentId, condition]) => ({ jobId: parentId, condition }));
  await lockAffected(context, transaction, { ends: [jobId], others: dependsOn.map((parent) => parent.jobId) });
  // It may have been cancelled since.
  if (!locks.holds(jobId)) return;
  const [lane] = await lanesOf(context, session, [{ id: jobId }]);
  const [live] = await session.query<{ flags: number }>(sql.adoptLive, [jobId, lane]);
  if (live === undefined) return;
  effects.changedJob(jobId);
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
  if (now !== undefined) effects.jobIs(jobId, now);
}

/** A parent that retention has deleted since the submission counts as skipped: how it ended is not known. */
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

/** Propagates the end of a completed job, unless a person has retried it since. */
async function propagateEnd(
  context: Context,
  transaction: Transaction,
  { job_id: jobId, request }: IntakeRow,
): Promise<void> {
  const again = await transaction.session.query(context.sql.liveOf, [numbers([jobId])]);
  if (again.length > 0) return;
  const flags = (request.flags ?? 0) & ~FLAG.holdsKey;
  const update = new GraphUpdate(context, transaction);
  await update.ended([{ jobId, flags, status: 'done', keepChildren: false }]);
  await update.write();
}
