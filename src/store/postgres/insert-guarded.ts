/**
 * Jobs with unique keys, and calls with an idempotency key: these may have to wait for others, so they go in transactions
 * of their own. Locks are taken in the order that all follow: the call's own key, jobs, unique keys by name.
 */

import { WorkronError } from '../../core/error.ts';
import { isWaiting, type Job, type NewJob } from '../../core/job.ts';
import { encodeSpec } from '../spec.ts';
import { IDEMPOTENCY_MS, type Inserted, type InsertOptions } from '../store.ts';
import type { Context } from './context.ts';
import type { Session } from './database.ts';
import { announce, insertRows } from './insert-rows.ts';
import { decodeJob, type JobRow } from './job-row.ts';
import { numbers } from './values.ts';

const MAX_ROUNDS = 20;

export interface GuardedInsert {
  jobs: readonly NewJob[];
  /** Of each job. */
  lanes: readonly number[];
  options: InsertOptions;
}

/** A key changed hands between the look at it and the lock on it. */
class KeyMoved extends Error {}

export async function insertGuarded(context: Context, asked: GuardedInsert, signal: AbortSignal): Promise<Inserted> {
  for (let round = 1; ; round += 1) {
    try {
      const answer = await context.database.transaction(signal, (session) => insertOnce(context, session, asked));
      const changed = answer.items.map(({ job }) => job).filter(({ status }) => isWaiting(status));
      if (!answer.replayed) announce(context, changed);
      return answer;
    } catch (error) {
      if (!(error instanceof KeyMoved)) throw error;
      if (round >= MAX_ROUNDS) throw new WorkronError('store_unavailable', 'A unique key keeps changing hands');
    }
  }
}

async function insertOnce(context: Context, session: Session, asked: GuardedInsert): Promise<Inserted> {
  const { sql } = context;
  const { idempotency } = asked.options;
  if (idempotency !== undefined) {
    const values = [idempotency.key, idempotency.fingerprint, IDEMPOTENCY_MS];
    const begun = await session.query(sql.beginIdempotent, values);
    if (begun.length === 0) return await replay(context, session, idempotency);
  }
  const items = await insertUnique(context, session, asked);
  if (idempotency !== undefined) {
    const answer = items.map(({ job, deduplicated }) => ({ job_id: job.id, deduplicated }));
    await session.query(sql.endIdempotent, [idempotency.key, JSON.stringify(answer)]);
  }
  return { items, replayed: false };
}

/** The jobs as they are now; what retention has deleted meanwhile is left out. */
async function replay(
  { sql }: Context,
  session: Session,
  { key, fingerprint }: { key: string; fingerprint: string },
): Promise<Inserted> {
  type Row = { fingerprint: string; answer: { job_id: number; deduplicated: boolean }[] };
  const [first] = await session.query<Row>(sql.idempotentAnswer, [key]);
  if (first === undefined) throw new KeyMoved();
  if (first.fingerprint !== fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  const rows = await session.query<JobRow>(sql.jobs, [numbers(first.answer.map((item) => item.job_id))]);
  const jobs = new Map(rows.map((row) => [row.id, decodeJob(row)]));
  const items = first.answer.flatMap(({ job_id, deduplicated }) => {
    const job = jobs.get(job_id);
    return job === undefined ? [] : [{ job, deduplicated }];
  });
  return { items, replayed: true };
}

async function insertUnique(context: Context, session: Session, asked: GuardedInsert): Promise<Inserted['items']> {
  const { jobs, lanes } = asked;
  const holders = await lockHolders(context, session, jobs);

  // Of several new jobs with one key the first is stored; one that replaces it is stored in its place.
  const fresh: { job: NewJob; lane: number }[] = [];
  const firstOf = new Map<string, number>();
  const places = jobs.map((job, index) => {
    const entry = { job, lane: lanes[index] as number };
    if (job.unique === null) return { fresh: fresh.push(entry) - 1, deduplicated: false };
    const held = holders.byKey.get(job.unique.key);
    if (held !== undefined) return { held, deduplicated: true };
    const earlier = firstOf.get(job.unique.key);
    if (earlier !== undefined) {
      if (job.unique.onConflict === 'replace') fresh[earlier] = entry;
      return { fresh: earlier, deduplicated: true };
    }
    firstOf.set(job.unique.key, fresh.length);
    return { fresh: fresh.push(entry) - 1, deduplicated: false };
  });

  const stored = await insertRows(
    context,
    session,
    fresh.map(({ job }) => job),
    fresh.map(({ lane }) => lane),
  );
  await giveKeys(
    context,
    session,
    fresh.map(({ job }, index) => ({ job, jobId: (stored[index] as Job).id })),
  );
  const held = await replaceHolders(context, session, asked, holders);
  return places.map(({ fresh: place, held: holder, deduplicated }) => ({
    job: (place === undefined ? held.get(holder) : stored[place]) as Job,
    deduplicated,
  }));
}

interface Holders {
  byKey: ReadonlyMap<string, number>;
  /** Those that wait and can be replaced. */
  locked: ReadonlySet<number>;
}

/**
 * Who holds which of the jobs' keys. What the call is going to change stays so until the end of the transaction: those
 * whom it may replace are locked, and keys that nobody holds are made.
 */
async function lockHolders({ sql }: Context, session: Session, jobs: readonly NewJob[]): Promise<Holders> {
  const keys = [...new Set(jobs.flatMap(({ unique }) => (unique === null ? [] : [unique.key])))];
  if (keys.length === 0) return { byKey: new Map(), locked: new Set() };
  type Row = { key: string; job_id: number };
  const seen = await session.query<Row>(sql.keyHolders, [keys]);
  const byKey = new Map(seen.map(({ key, job_id }) => [key, job_id]));
  refuseConflicts(jobs, byKey);
  const isHeld = seen.length === keys.length;
  const replaced = jobs.flatMap(({ unique }) =>
    unique?.onConflict === 'replace' ? (byKey.get(unique.key) ?? []) : [],
  );
  if (isHeld && replaced.length === 0) return { byKey, locked: new Set() };

  const waiting =
    replaced.length === 0 ? [] : await session.query<{ job_id: number }>(sql.lockWaiting, [numbers(replaced)]);
  const rows = await session.query<Row>(isHeld ? sql.lockKeys : sql.makeKeys, [keys]);
  const held = rows.filter(({ job_id }) => job_id !== 0);
  const unchanged = held.length === seen.length && held.every(({ key, job_id }) => byKey.get(key) === job_id);
  if (!unchanged) throw new KeyMoved();
  return { byKey, locked: new Set(waiting.map(({ job_id }) => job_id)) };
}

/** Before anything is stored, so that all or none is. */
function refuseConflicts(jobs: readonly NewJob[], holders: ReadonlyMap<string, number>): void {
  const keys = new Set<string>();
  for (const { unique } of jobs) {
    if (unique === null) continue;
    const holder = holders.get(unique.key);
    if (unique.onConflict === 'reject' && (holder !== undefined || keys.has(unique.key))) {
      const by = holder === undefined ? 'an earlier job of this request' : `job ${holder}`;
      throw new WorkronError(
        'unique_conflict',
        `The unique key ${JSON.stringify(unique.key)} is held by ${by}`,
        holder === undefined ? {} : { jobId: holder },
      );
    }
    keys.add(unique.key);
  }
}

async function giveKeys(
  { sql }: Context,
  session: Session,
  takers: readonly { job: NewJob; jobId: number }[],
): Promise<void> {
  const keyed = takers.flatMap(({ job, jobId }) => (job.unique === null ? [] : [{ ...job.unique, jobId }]));
  if (keyed.length === 0) return;
  await session.query(sql.giveKeys, [
    keyed.map(({ key }) => key),
    numbers(keyed.map(({ jobId }) => jobId)),
    keyed.map((unique) => (typeof unique.while === 'number' ? 'time' : unique.while)),
    numbers(keyed.map((unique) => (typeof unique.while === 'number' ? unique.while : null))),
  ]);
}

/** Overwrites the holders that still wait where that was asked for; answers with all holders as they are then. */
async function replaceHolders(
  context: Context,
  session: Session,
  { jobs, lanes }: GuardedInsert,
  { byKey, locked }: Holders,
): Promise<ReadonlyMap<number, Job>> {
  const ids = [...new Set(byKey.values())];
  if (ids.length === 0) return new Map();
  const read = async () => {
    const rows = await session.query<JobRow>(context.sql.jobs, [numbers(ids)]);
    return new Map(rows.map((row) => [row.id, decodeJob(row)]));
  };
  const before = await read();
  let replaced = 0;
  for (const [index, job] of jobs.entries()) {
    const jobId = job.unique?.onConflict === 'replace' ? byKey.get(job.unique.key) : undefined;
    if (jobId === undefined || !locked.has(jobId)) continue;
    await replace(context, session, { job, jobId, lane: lanes[index] as number });
    replaced += 1;
  }
  return replaced === 0 ? before : await read();
}

async function replace(
  context: Context,
  session: Session,
  { job, jobId, lane }: { job: NewJob; jobId: number; lane: number },
): Promise<void> {
  const { queue, kind, name, priority, tags, spec } = encodeSpec(job);
  const stored = JSON.stringify({ ...spec, unique_key: job.unique?.key });
  await session.query(context.sql.replaceJob, [jobId, queue, kind, name, priority, tags, stored]);
  const holdsKey = typeof job.unique?.while === 'string';
  await session.query(context.sql.replaceLive, [
    jobId,
    lane,
    -priority,
    job.runAt,
    job.delayMs,
    job.startTimeoutMs,
    holdsKey,
  ]);
  await giveKeys(context, session, [{ job, jobId }]);
}
