import type { WorkflowStatus } from '../../../core/dag/workflow-status.ts';
import type { TerminalStatus } from '../../../core/job.ts';
import type { Retention } from '../../duty-store.ts';
import { IDEMPOTENCY_MS } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import type { Session, Statement } from '../base/database.ts';
import { numbers } from '../base/values.ts';

/** Ended jobs read at once. */
const WINDOW = 20_000;
/** Windows that each call reads from the first job on, and then from where the last call stopped. */
const WINDOWS = 10;
/** Jobs deleted per statement. */
const PIECE = 5_000;

interface OldRow {
  job_id: number;
  last: number;
  looked: number;
}

/**
 * Ended jobs are deleted by age, but walked by id, for which there is an index: an index by age would have to be maintained
 * on the hot path. Jobs end roughly in the order of their ids, so each call meets the oldest first. Where many jobs are kept that were
 * created as early, steps of a workflow for example, it goes on from call to call (`Context.pruned`) until it has been through all.
 */
export async function prune(
  context: Context,
  { doneMs, otherMs, statsMs }: Retention,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const { database, sql } = context;
  const sweep = (statement: Statement, values: readonly unknown[]) =>
    database.transaction(signal, (session) => session.query(statement, values));
  await sweep(sql.pruneKeys, []);
  await sweep(sql.pruneIdempotency, [IDEMPOTENCY_MS]);
  await sweep(sql.pruneStats, [statsMs]);
  await sweep(sql.pruneStarts, []);
  await sweep(sql.pruneMeters, []);
  await sweep(sql.pruneGangs, []);
  await sweep(sql.pruneAlarms, [otherMs]);
  let count = await pruneEnded(context, 'done', doneMs, limit, signal);
  for (const status of ['failed', 'cancelled', 'skipped'] as const) {
    if (count < limit) count += await pruneEnded(context, status, otherMs, limit - count, signal);
  }
  for (const status of ['done', 'failed', 'cancelled'] as const) {
    if (count < limit)
      count += await pruneWorkflows(context, status, status === 'done' ? doneMs : otherMs, limit - count, signal);
  }
  return count;
}

/** Deletes each workflow as a whole, so the last one may exceed the limit. */
async function pruneWorkflows(
  context: Context,
  status: WorkflowStatus,
  keepMs: number,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const { database, sql } = context;
  const old = await database.query<{ id: number }>(sql.oldWorkflows, [status, keepMs, limit], signal);
  let count = 0;
  for (const { id } of old) {
    if (count >= limit) break;
    count += await database.transaction(signal, (session) => pruneWorkflow(context, session, id, { status, keepMs }));
  }
  return count;
}

async function pruneWorkflow(
  context: Context,
  session: Session,
  id: number,
  { status, keepMs }: { status: WorkflowStatus; keepMs: number },
): Promise<number> {
  const { sql } = context;
  const jobs = await session.query<{ id: number }>(sql.workflowJobs, [id]);
  const ids = jobs.map((job) => job.id);
  const ended = await session.query(sql.lockEnded, [numbers(ids)]);
  const [workflow] = await session.query(sql.lockOldWorkflow, [id, status, keepMs]);
  if (workflow === undefined || ended.length < ids.length) return 0;
  if ((await session.query(sql.neededOf, [numbers(ids)])).length > 0) return 0;
  await removeWorkflow(context, session, id, ids);
  return ids.length;
}

/** Deletes a workflow with its jobs, which the caller has locked. */
export async function removeWorkflow(
  { sql }: Context,
  session: Session,
  id: number,
  jobIds: readonly number[],
): Promise<void> {
  for (let start = 0; start < jobIds.length; start += PIECE) {
    await session.query(sql.pruneJobs, [numbers(jobIds.slice(start, start + PIECE))]);
  }
  await session.query(sql.keepWorkflowOutcome, [id]);
  await session.query(sql.pruneWorkflow, [id]);
  await session.query(sql.pruneWorkflowNotifications, [id]);
}

/** Deletes ended jobs with all their rows. The caller has locked them. */
export async function removeJobs({ sql }: Context, session: Session, ids: readonly number[]): Promise<void> {
  await session.query(sql.keepOutcomes, [numbers(ids)]);
  await session.query(sql.pruneJobs, [numbers(ids)]);
}

async function pruneEnded(
  context: Context,
  status: TerminalStatus,
  keepMs: number,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const { pruned } = context;
  let count = 0;
  let after = 0;
  for (let windows = 0; windows < 2 * WINDOWS && count < limit; windows += 1) {
    if (windows === WINDOWS) after = Math.max(after, pruned.get(status) ?? 0);
    const { gone, next } = await pruneWindow(context, status, { keepMs, after, limit: limit - count }, signal);
    count += gone;
    if (next === null) {
      pruned.delete(status);
      break;
    }
    after = next;
    if (windows >= WINDOWS) pruned.set(status, after);
  }
  return count;
}

/** `next`: where the next window begins; `null` after the last one. */
async function pruneWindow(
  context: Context,
  status: TerminalStatus,
  { keepMs, after, limit }: { keepMs: number; after: number; limit: number },
  signal: AbortSignal,
): Promise<{ gone: number; next: number | null }> {
  const { database, sql } = context;
  const window = [keepMs, after, WINDOW, limit];
  const rows =
    status === 'done'
      ? await database.query<OldRow>(sql.oldEndedDone, window, signal)
      : await database.query<OldRow>(sql.oldEndedAs, [...window, status], signal);
  const [first] = rows;
  if (first === undefined) return { gone: 0, next: null };
  const gone = await database.transaction(signal, async (session) => {
    const ids = rows.map(({ job_id }) => job_id);
    const locked = await session.query<{ job_id: number }>(sql.lockOld, [numbers(ids), status, keepMs]);
    if (locked.length === 0) return 0;
    const old = await session.query<{ job_id: number }>(sql.prunable, [numbers(locked.map(({ job_id }) => job_id))]);
    if (old.length === 0) return 0;
    await removeJobs(
      context,
      session,
      old.map(({ job_id }) => job_id),
    );
    return old.length;
  });
  return { gone, next: first.looked === WINDOW ? first.last : null };
}
