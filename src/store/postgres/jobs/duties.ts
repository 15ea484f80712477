/** Jobs that the background duties look for. */

import type { Job } from '../../../core/job.ts';
import type { HeldLease } from '../../../core/lease.ts';
import type { LostJob, LostRequest, Promoted, Unlocked } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { read } from '../reads/reading.ts';
import { earlier, type LimitedQueue, readQueueRooms } from './meters.ts';
import { giveTurnsTo } from './turns.ts';

export async function promote(context: Context, limit: number, signal: AbortSignal): Promise<Promoted> {
  const { database, sql, hints, fairQueues } = context;
  type Row = { due: number | null; now: number; fair: string[] | null; meters: boolean };
  const nextDue = async () => (await database.query<Row>(sql.nextDue, [], signal))[0] as Row;
  const next = await nextDue();
  if (next.fair !== null) fairQueues.learn(next.fair);
  const nextOpening = next.meters ? await openMeters(context, signal) : null;
  if (next.due === null || next.due > next.now) return { count: 0, nextDueAt: earlier(next.due, nextOpening) };

  type Id = { job_id: number };
  const promoted = await database.transaction(signal, async (session) => {
    const rows = await session.query<Id>(sql.promote, [limit]);
    const jobIds = rows.map(({ job_id }) => job_id);
    if (fairQueues.names.length > 0) await giveTurnsTo(context, session, { jobIds, fairQueues: [] });
    return rows;
  });
  if (promoted.length > 0) hints.announce({ work: true, jobs: promoted.map(({ job_id }) => job_id) });
  // Read in a later statement: the one that promotes still sees the old rows.
  return { count: promoted.length, nextDueAt: earlier((await nextDue()).due, nextOpening) };
}

/** Announces rates that allow starts again. Returns when the next one will. */
async function openMeters({ database, sql, hints }: Context, signal: AbortSignal): Promise<number | null> {
  const session: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  const opened = await session.query(sql.openDueParkings);
  const [next] = await session.query<{ at: number | null }>(sql.nextOpening);
  const rated = await session.query<LimitedQueue>(sql.ratedQueues);
  const { rooms } = await readQueueRooms(sql, session, rated);
  const waiting =
    rooms.size === 0 ? [] : await session.query<{ queue: string }>(sql.queueHasPending, [[...rooms.keys()]]);
  const openings = waiting.map(({ queue }) => rooms.get(queue)?.opensAt ?? null);
  if (opened.length > 0 || openings.includes(null)) hints.announce({ work: true });
  return openings.reduce(earlier, next?.at ?? null);
}

export async function findExpired(context: Context, limit: number, signal: AbortSignal): Promise<Job[]> {
  const rows = await context.database.query<{ job_id: number }>(context.sql.expiredJobs, [limit], signal);
  const jobs = await readAll(context, rows, signal);
  // Some may have started between the two reads.
  return jobs.filter(({ expiresAt }) => expiresAt !== null);
}

export async function leases({ database, sql }: Context, signal: AbortSignal): Promise<HeldLease[]> {
  type Row = { id: number; job_id: number; heard_at: number; lease_ms: number };
  const rows = await database.query<Row>(sql.leases, [], signal);
  return rows.map(({ id, job_id, heard_at, lease_ms }) => ({
    workerId: id,
    jobId: job_id || null,
    heardAt: heard_at,
    leaseMs: lease_ms,
  }));
}

export async function findLost(
  context: Context,
  { limit, dead = [], silent = [] }: LostRequest,
  signal: AbortSignal,
): Promise<LostJob[]> {
  type Row = { job_id: number; seen_at: number };
  const workers = numbers(silent.map(({ workerId }) => workerId));
  const jobIds = numbers(silent.map(({ jobId }) => jobId ?? 0));
  const values = [limit, numbers(dead), workers, jobIds, numbers(silent.map(({ heardAt }) => heardAt))];
  const rows = await context.database.query<Row>(context.sql.lostJobs, values, signal);
  const seenAt = new Map(rows.map(({ job_id, seen_at }) => [job_id, seen_at]));
  const jobs = await readAll(context, rows, signal);
  return jobs
    .filter(({ status }) => status === 'running')
    .map((job) => ({ job, workerSeenAt: seenAt.get(job.id) as number }));
}

async function readAll(context: Context, rows: readonly { job_id: number }[], signal: AbortSignal): Promise<Job[]> {
  if (rows.length === 0) return [];
  return await read(
    context,
    rows.map(({ job_id }) => job_id),
    signal,
  );
}

export async function findUnlocked({ database, sql }: Context, signal: AbortSignal): Promise<Unlocked> {
  type Row = { started_at: number } & ({ id: number; seen_at: number } | { id: null });
  const rows = await database.query<Row>(sql.unlockedWorkers, [], signal);
  return {
    workers: rows.flatMap((row) => (row.id === null ? [] : [{ id: row.id, seenAt: row.seen_at }])),
    serverStartedAt: rows[0]?.started_at ?? 0,
  };
}
