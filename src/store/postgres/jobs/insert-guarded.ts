/**
 * Inserts jobs with unique keys or parents, and calls with an idempotency key. These may have to wait for other transactions.
 * Jobs and unique keys are locked as 'Lock order' in docs/architecture.md says; the row of the idempotency key is written first.
 */

import { isWaiting, type Job, type NewJob } from '../../../core/job.ts';
import { followsRunning, isForeign, replacesWaiting } from '../../../core/unique.ts';
import { edgesOf, insertEdges, type ParentEnds, placementOf } from '../../engine/graph/edges.ts';
import { lockAffected } from '../../engine/graph/lock-affected.ts';
import { lockParents, parentIds } from '../../engine/graph/parents.ts';
import { beginIdempotent, endIdempotent } from '../../engine/idempotency.ts';
import { readJobs } from '../../engine/reads.ts';
import type { Inserted, JobInsertOptions } from '../../job-store.ts';
import { keyHeld, keyHeldElsewhere, tooYoungParent } from '../../refusals.ts';
import { StartAgain, type Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { inTransaction } from '../base/engine.ts';
import { numbers } from '../base/values.ts';
import { insertLinked } from '../graph/insert-linked.ts';
import { announce, insertRows } from './insert-rows.ts';
import { type Holders, planInsert } from './plan-insert.ts';
import { giveKeys, replaceHolders } from './replace.ts';

interface GuardedInsert {
  jobs: readonly NewJob[];
  /** The lane of each job. */
  lanes: readonly number[];
  options: JobInsertOptions;
}

export async function insertGuarded(context: Context, asked: GuardedInsert, signal: AbortSignal): Promise<Inserted> {
  const answer = await inTransaction(context, signal, (tx, session) => insertOnce(context, { tx, session }, asked));
  const changed = answer.items.map(({ job }) => job).filter(({ status }) => isWaiting(status));
  if (!answer.replayed) announce(context, changed);
  return answer;
}

interface Transaction {
  tx: Tx;
  session: Session;
}

type StoredAnswer = { job_id: number; deduplicated: boolean }[];

async function insertOnce(context: Context, transaction: Transaction, asked: GuardedInsert): Promise<Inserted> {
  const { sql } = context;
  const { session } = transaction;
  const { idempotency, rerunOf } = asked.options;
  if (idempotency !== undefined) {
    const stored = await beginIdempotent<StoredAnswer>(transaction.tx, idempotency);
    if (stored !== undefined) return { items: await replay(transaction.tx, stored), replayed: true };
  }
  const items = await insertUnique(context, transaction, asked);
  if (rerunOf !== undefined) {
    const made = items.filter(({ deduplicated }) => !deduplicated).map(({ job }) => job);
    await session.query(sql.setRerunOf, [numbers(made.map(({ id }) => id)), rerunOf]);
    for (const job of made) job.rerunOf = rerunOf;
  }
  if (idempotency !== undefined) {
    const answer: StoredAnswer = items.map(({ job, deduplicated }) => ({ job_id: job.id, deduplicated }));
    await endIdempotent(transaction.tx, idempotency, answer);
  }
  return { items, replayed: false };
}

/** The jobs as they are now, without those that retention has deleted. */
async function replay(tx: Tx, answer: StoredAnswer): Promise<Inserted['items']> {
  const stored = await readJobs(
    tx,
    answer.map((item) => item.job_id),
  );
  const jobs = new Map(stored.map((job) => [job.id, job]));
  return answer.flatMap(({ job_id, deduplicated }) => {
    const job = jobs.get(job_id);
    return job === undefined ? [] : [{ job, deduplicated }];
  });
}

async function insertUnique(
  context: Context,
  transaction: Transaction,
  asked: GuardedInsert,
): Promise<Inserted['items']> {
  const { jobs, lanes } = asked;
  const { tx, session } = transaction;
  const { graphUpdate } = tx;
  const seen = await seenHolders(context, session, jobs);
  const afters = await aftersOf(context, session, replacedBy(jobs, seen));
  const followed = [
    ...afters.values(),
    ...replacedBy(
      jobs.filter(({ unique }) => followsRunning(unique)),
      seen,
    ),
  ];
  const linked = [...jobs, { dependsOn: followed.map((jobId) => ({ jobId, condition: 'ended' as const })) }];
  await lockReplaced(tx, { jobs, linked }, seen);
  const ends = await lockParents(tx, linked);
  // After the parents, so that every store reports an unknown parent first.
  refuseConflicts(jobs, seen);
  const holders = { ...(await lockHolders(context, transaction, jobs, seen)), afters };

  const placed = jobs.map((job, index) => ({ job, lane: lanes[index] as number }));
  const plan = planInsert(placed, holders, ends);
  const { fresh, takers, replacements, answers, deduplicated, fairQueues } = plan;
  await supersede(context, transaction, plan.superseded);
  const stored = await insertFresh(context, transaction, fresh, ends);
  const held = await replaceHolders(context, transaction, { replacements, holders, ends });
  // After the replacements: a job that ended by its replacement has released its key for a later one.
  const keyed = fresh.map(({ job }, place) => ({ job, jobId: (stored[place] as Job).id }));
  await giveKeys(
    context,
    session,
    keyed.filter((_, place) => takers.has(place)),
  );
  for (const { id } of stored) graphUpdate.claimable(id);
  for (const queue of fairQueues) graphUpdate.fairQueues.add(queue);
  const over = stored.filter(({ status }, place) => status === 'skipped' && fresh[place]?.job.unique !== null);
  for (const { id } of over) graphUpdate.freeKey(id);
  return answers.map((answer, index) => ({
    job: ('fresh' in answer ? stored[answer.fresh] : held.get(answer.held)) as Job,
    deduplicated: deduplicated[index] as boolean,
  }));
}

/** Inserts new jobs; those with parents are judged by their parents' current state. */
async function insertFresh(
  context: Context,
  { tx, session }: Transaction,
  fresh: readonly { job: NewJob; lane: number }[],
  ends: ParentEnds,
): Promise<Job[]> {
  if (fresh.every(({ job }) => job.dependsOn.length === 0)) {
    return await insertRows(
      context,
      session,
      fresh.map(({ job }) => job),
      fresh.map(({ lane }) => lane),
    );
  }
  const ids = await insertLinked(
    context,
    session,
    fresh.map(({ job }) => ({ job, placement: placementOf(job.dependsOn, ends, 'each'), flags: 0, step: null })),
    fresh.map(({ lane }) => lane),
  );
  const edges = fresh.flatMap(({ job }, index) => edgesOf(ids[index] as number, job.dependsOn, ends));
  await insertEdges(tx, edges);
  return await readJobs(
    tx,
    ids.toSorted((a, b) => a - b),
  );
}

interface KeyRow {
  key: string;
  job_id: number;
}

/** Reads the holders of the jobs' keys before anything is locked. */
async function seenHolders({ sql }: Context, session: Session, jobs: readonly NewJob[]): Promise<Holders['byKey']> {
  const keys = keysOf(jobs);
  if (keys.length === 0) return new Map();
  const rows = await session.query<KeyRow>(sql.keyHolders, [keys]);
  return new Map(rows.map(({ key, job_id }) => [key, job_id]));
}

/** Locks the jobs to be replaced, their new parents, and the jobs that are affected if a replaced job is skipped. */
async function lockReplaced(
  tx: Tx,
  { jobs, linked }: { jobs: readonly NewJob[]; linked: readonly Pick<NewJob, 'dependsOn'>[] },
  byKey: Holders['byKey'],
): Promise<void> {
  const replaced = replacedBy(jobs, byKey);
  if (replaced.length === 0) return;
  const others = parentIds(linked).filter((id) => !replaced.includes(id));
  await lockAffected(tx, { ends: replaced, others });
}

/** The unfinished jobs whose end the holders wait for. */
async function aftersOf({ sql }: Context, session: Session, holders: readonly number[]): Promise<Holders['afters']> {
  if (holders.length === 0) return new Map();
  const rows = await session.query<{ id: number; after: number }>(sql.keyAfters, [numbers(holders)]);
  return new Map(rows.map(({ id, after }) => [id, after]));
}

/** Asks running jobs to stop. */
async function supersede(
  { sql }: Context,
  { tx: { effects }, session }: Transaction,
  jobIds: ReadonlySet<number>,
): Promise<void> {
  if (jobIds.size === 0) return;
  type Row = { job_id: number; worker_id: number | null };
  for (const { job_id, worker_id } of await session.query<Row>(sql.askToStop, [numbers([...jobIds])])) {
    effects.changedJob(job_id);
    if (worker_id !== null) effects.changedWorker(worker_id);
  }
}

/**
 * Locks the keys until the end of the transaction and creates those that are free. The jobs that may be replaced have been
 * locked before.
 */
async function lockHolders(
  { sql }: Context,
  { tx: { locks }, session }: Transaction,
  jobs: readonly NewJob[],
  byKey: Holders['byKey'],
): Promise<Omit<Holders, 'afters'>> {
  const keys = keysOf(jobs);
  const replaced = replacedBy(jobs, byKey);
  const isHeld = byKey.size === keys.length;
  if (isHeld && replaced.length === 0) return { byKey, locked: new Map(), running: new Set() };

  const rows = await session.query<KeyRow>(isHeld ? sql.lockKeys : sql.makeKeys, [keys]);
  const held = rows.filter(({ job_id }) => job_id !== 0);
  const unchanged = held.length === byKey.size && held.every(({ key, job_id }) => byKey.get(key) === job_id);
  if (!unchanged) throw new StartAgain();
  type Row = { job_id: number; flags: number };
  const waiting = replaced.length === 0 ? [] : await session.query<Row>(sql.waitingOf, [numbers(replaced)]);
  const locked = new Map(waiting.filter(({ job_id }) => locks.holds(job_id)).map((row) => [row.job_id, row.flags]));
  await refuseForeign({ sql }, session, jobs, byKey);
  refuseYoungParents(jobs, byKey, locked);
  const running = new Set(replaced.filter((id) => locks.holds(id) && !locked.has(id)));
  return { byKey, locked, running };
}

function keysOf(jobs: readonly NewJob[]): string[] {
  return [...new Set(jobs.flatMap(({ unique }) => (unique === null ? [] : [unique.key])))];
}

function replacedBy(jobs: readonly NewJob[], byKey: Holders['byKey']): number[] {
  const holders = jobs.map(({ unique }) =>
    unique !== null && replacesWaiting(unique) ? byKey.get(unique.key) : undefined,
  );
  return [...new Set(holders.filter((id) => id !== undefined))];
}

/** Checked before anything is stored, so that all jobs or none are stored. */
function refuseConflicts(jobs: readonly NewJob[], holders: ReadonlyMap<string, number>): void {
  const keys = new Set<string>();
  for (const { unique } of jobs) {
    if (unique === null) continue;
    const holder = holders.get(unique.key);
    if (unique.onConflict === 'reject' && (holder !== undefined || keys.has(unique.key))) {
      throw keyHeld(unique.key, holder);
    }
    keys.add(unique.key);
  }
}

/** Checked after the locks: a job may move to another queue before. */
async function refuseForeign(
  { sql }: Pick<Context, 'sql'>,
  session: Session,
  jobs: readonly NewJob[],
  byKey: Holders['byKey'],
): Promise<void> {
  const holders = replacedBy(
    jobs.filter(({ unique }) => unique?.within !== undefined),
    byKey,
  );
  if (holders.length === 0) return;
  const rows = await session.query<{ id: number; queue: string }>(sql.holderQueues, [numbers(holders)]);
  const queues = new Map(rows.map(({ id, queue }) => [id, queue]));
  for (const { unique } of jobs) {
    const holder = unique === null ? undefined : byKey.get(unique.key);
    const queue = holder === undefined ? undefined : queues.get(holder);
    if (unique === null || holder === undefined || queue === undefined || !isForeign(unique, queue)) continue;
    throw keyHeldElsewhere(unique.key, holder, queue);
  }
}

/** Checked before anything is stored: a replaced job keeps its id, and its parents must have lower ids. */
function refuseYoungParents(jobs: readonly NewJob[], byKey: Holders['byKey'], locked: Holders['locked']): void {
  for (const { unique, dependsOn } of jobs) {
    const jobId = unique !== null && replacesWaiting(unique) ? byKey.get(unique.key) : undefined;
    if (jobId === undefined || !locked.has(jobId)) continue;
    const young = dependsOn.find((dependency) => dependency.jobId >= jobId);
    if (young !== undefined) throw tooYoungParent(jobId, young.jobId);
  }
}
