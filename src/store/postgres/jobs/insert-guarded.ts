/**
 * Jobs with unique keys or parents, and calls with an idempotency key: these may have to wait for others, so they go in
 * transactions of their own. Locks are taken in the order that all follow: the call's own key, jobs, unique keys by name.
 */

import { isWaiting, type Job, type NewJob } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Inserted, InsertOptions } from '../../job-store.ts';
import { keyHeld, tooYoungParent } from '../../refusals.ts';
import { encodeSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { Moved, transactAgain } from '../graph/again.ts';
import { Conclusion } from '../graph/conclusion.ts';
import { edgesOf, insertEdges, insertLinked, prospectOf } from '../graph/insert-linked.ts';
import { lockConcerned } from '../graph/lock-concerned.ts';
import { Locks } from '../graph/locks.ts';
import { lockParents, type ParentEnds, parentIds } from '../graph/parents.ts';
import { Tally } from '../graph/tally.ts';
import type { Transaction } from '../graph/transaction.ts';
import { decodeJob, type JobRow } from '../reads/job-row.ts';
import { beginIdempotent } from './idempotency.ts';
import { announce, insertRows, ownFlags } from './insert-rows.ts';
import { type Holders, type InsertPlan, planInsert } from './plan-insert.ts';

export interface GuardedInsert {
  jobs: readonly NewJob[];
  /** Of each job. */
  lanes: readonly number[];
  options: InsertOptions;
}

export async function insertGuarded(context: Context, asked: GuardedInsert, signal: AbortSignal): Promise<Inserted> {
  const { answer, tally } = await transactAgain(context, signal, async (session) => {
    const ledger = new Tally();
    const inserted = await insertOnce(context, session, asked, ledger);
    await ledger.write(context, session);
    return { answer: inserted, tally: ledger };
  });
  tally.tell(context);
  const changed = answer.items.map(({ job }) => job).filter(({ status }) => isWaiting(status));
  if (!answer.replayed) announce(context, changed);
  return answer;
}

type StoredAnswer = { job_id: number; deduplicated: boolean }[];

async function insertOnce(context: Context, session: Session, asked: GuardedInsert, tally: Tally): Promise<Inserted> {
  const { sql } = context;
  const { idempotency } = asked.options;
  if (idempotency !== undefined) {
    const stored = await beginIdempotent<StoredAnswer>(context, session, idempotency);
    if (stored !== undefined) return { items: await replay(context, session, stored), replayed: true };
  }
  const items = await insertUnique(context, session, asked, tally);
  if (idempotency !== undefined) {
    const answer: StoredAnswer = items.map(({ job, deduplicated }) => ({ job_id: job.id, deduplicated }));
    await session.query(sql.endIdempotent, [idempotency.key, JSON.stringify(answer)]);
  }
  return { items, replayed: false };
}

/** The jobs as they are now; what retention has deleted meanwhile is left out. */
async function replay({ sql }: Context, session: Session, answer: StoredAnswer): Promise<Inserted['items']> {
  const rows = await session.query<JobRow>(sql.jobs, [numbers(answer.map((item) => item.job_id))]);
  const jobs = new Map(rows.map((row) => [row.id, decodeJob(row)]));
  return answer.flatMap(({ job_id, deduplicated }) => {
    const job = jobs.get(job_id);
    return job === undefined ? [] : [{ job, deduplicated }];
  });
}

async function insertUnique(
  context: Context,
  session: Session,
  asked: GuardedInsert,
  tally: Tally,
): Promise<Inserted['items']> {
  const { jobs, lanes } = asked;
  const locks = new Locks(context, session);
  const transaction = { session, locks, tally };
  const seen = await seenHolders(context, session, jobs);
  await lockReplaced(context, transaction, jobs, seen);
  const ends = await lockParents(context, transaction, jobs);
  // After the parents: a job that could never run is told so first, on every store.
  refuseConflicts(jobs, seen);
  const holders = await lockHolders(context, transaction, jobs, seen);

  const placed = jobs.map((job, index) => ({ job, lane: lanes[index] as number }));
  const { fresh, takers, replacements, answers, deduplicated, fairQueues } = planInsert(placed, holders, ends);
  const stored = await insertFresh(context, session, fresh, ends);
  const held = await replaceHolders(context, transaction, { replacements, holders, ends });
  // After those who were replaced: one that ended by it has let go of its key for a later one.
  const keyed = fresh.map(({ job }, place) => ({ job, jobId: (stored[place] as Job).id }));
  await giveKeys(
    context,
    session,
    keyed.filter((_, place) => takers.has(place)),
  );
  for (const { id } of stored) tally.claimable(id);
  for (const queue of fairQueues) tally.fair(queue);
  const over = stored.filter(({ status }, place) => status === 'skipped' && fresh[place]?.job.unique !== null);
  for (const { id } of over) tally.freeKey(id);
  return answers.map((answer, index) => ({
    job: ('fresh' in answer ? stored[answer.fresh] : held.get(answer.held)) as Job,
    deduplicated: deduplicated[index] as boolean,
  }));
}

/** Jobs that depend on others are judged by what those are now; the others are due or not, as ever. */
async function insertFresh(
  context: Context,
  session: Session,
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
    fresh.map(({ job, lane }) => ({
      job,
      lane,
      prospect: prospectOf(job.dependsOn, ends, 'each'),
      flags: 0,
      step: null,
    })),
  );
  const edges = fresh.flatMap(({ job }, index) => edgesOf(ids[index] as number, job.dependsOn, ends));
  await insertEdges(context, session, edges);
  const rows = await session.query<JobRow>(context.sql.jobs, [numbers(ids)]);
  return rows.map(decodeJob).sort((a, b) => a.id - b.id);
}

interface KeyRow {
  key: string;
  job_id: number;
}

/** Who holds which of the jobs' keys, before anything is locked. */
async function seenHolders({ sql }: Context, session: Session, jobs: readonly NewJob[]): Promise<Holders['byKey']> {
  const keys = keysOf(jobs);
  if (keys.length === 0) return new Map();
  const rows = await session.query<KeyRow>(sql.keyHolders, [keys]);
  return new Map(rows.map(({ key, job_id }) => [key, job_id]));
}

/** With the parents, and with those who hear of it if one that is replaced ends by its new parents. */
async function lockReplaced(
  context: Context,
  { session, locks }: Transaction,
  jobs: readonly NewJob[],
  byKey: Holders['byKey'],
): Promise<void> {
  const replaced = replacedBy(jobs, byKey);
  if (replaced.length === 0) return;
  await lockConcerned(context, { session, locks }, { ends: replaced, others: parentIds(jobs) });
}

/**
 * What the call is going to change stays so until the end of the transaction: those whom it may replace are locked by now,
 * and keys that nobody holds are made.
 */
async function lockHolders(
  { sql }: Context,
  { session, locks }: Transaction,
  jobs: readonly NewJob[],
  byKey: Holders['byKey'],
): Promise<Holders> {
  const keys = keysOf(jobs);
  const replaced = replacedBy(jobs, byKey);
  const isHeld = byKey.size === keys.length;
  if (isHeld && replaced.length === 0) return { byKey, locked: new Map() };

  const rows = await session.query<KeyRow>(isHeld ? sql.lockKeys : sql.makeKeys, [keys]);
  const held = rows.filter(({ job_id }) => job_id !== 0);
  const unchanged = held.length === byKey.size && held.every(({ key, job_id }) => byKey.get(key) === job_id);
  if (!unchanged) throw new Moved();
  type Row = { job_id: number; flags: number };
  const waiting = replaced.length === 0 ? [] : await session.query<Row>(sql.waitingOf, [numbers(replaced)]);
  const locked = new Map(waiting.filter(({ job_id }) => locks.holds(job_id)).map((row) => [row.job_id, row.flags]));
  refuseYoungParents(jobs, byKey, locked);
  return { byKey, locked };
}

function keysOf(jobs: readonly NewJob[]): string[] {
  return [...new Set(jobs.flatMap(({ unique }) => (unique === null ? [] : [unique.key])))];
}

function replacedBy(jobs: readonly NewJob[], byKey: Holders['byKey']): number[] {
  return jobs.flatMap(({ unique }) => (unique?.onConflict === 'replace' ? (byKey.get(unique.key) ?? []) : []));
}

/** Before anything is stored, so that all or none is. */
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

/** Likewise: a job that is replaced keeps its id. */
function refuseYoungParents(jobs: readonly NewJob[], byKey: Holders['byKey'], locked: Holders['locked']): void {
  for (const { unique, dependsOn } of jobs) {
    const jobId = unique?.onConflict === 'replace' ? byKey.get(unique.key) : undefined;
    if (jobId === undefined || !locked.has(jobId)) continue;
    const young = dependsOn.find((dependency) => dependency.jobId >= jobId);
    if (young !== undefined) throw tooYoungParent(jobId, young.jobId);
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

interface Replacements {
  replacements: InsertPlan['replacements'];
  holders: Holders;
  ends: ParentEnds;
}

/** Overwrites the holders that still wait where that was asked for; answers with all holders as they are then. */
async function replaceHolders(
  context: Context,
  transaction: Transaction,
  { replacements, holders: { byKey, locked }, ends }: Replacements,
): Promise<ReadonlyMap<number, Job>> {
  const { session, tally } = transaction;
  const ids = [...new Set(byKey.values())];
  if (ids.length === 0) return new Map();
  const read = async () => {
    const rows = await session.query<JobRow>(context.sql.jobs, [numbers(ids)]);
    return new Map(rows.map((row) => [row.id, decodeJob(row)]));
  };
  const before = await read();
  for (const [jobId, { job, lane }] of replacements) {
    await replace(context, session, { job, jobId, lane });
    await relink(context, transaction, { job, jobId, flags: locked.get(jobId) as number, ends });
    tally.claimable(jobId);
  }
  return replacements.size === 0 ? before : await read();
}

async function replace(
  context: Context,
  session: Session,
  { job, jobId, lane }: { job: NewJob; jobId: number; lane: number },
): Promise<void> {
  const { queue, kind, name, priority, tags, spec } = encodeSpec(job);
  const stored = JSON.stringify({ ...spec, unique_key: job.unique?.key });
  await session.query(context.sql.replaceJob, [jobId, queue, kind, name, priority, tags, stored]);
  await session.query(context.sql.replaceLive, [
    jobId,
    lane,
    -priority,
    job.runAt,
    job.delayMs,
    job.startTimeoutMs,
    ownFlags(job),
  ]);
  await giveKeys(context, session, [{ job, jobId }]);
}

interface Relinked {
  job: NewJob;
  jobId: number;
  /** Before it was replaced. */
  flags: number;
  ends: ParentEnds;
}

/** Gives a job that was replaced the dependencies it has now. */
export async function relink(
  context: Context,
  transaction: Transaction,
  { job, jobId, flags, ends }: Relinked,
): Promise<void> {
  const { sql } = context;
  const { session } = transaction;
  if (!(flags & FLAG.hasParents) && job.dependsOn.length === 0) return;
  await session.query(sql.dropEdges, [numbers([jobId])]);
  await insertEdges(context, session, edgesOf(jobId, job.dependsOn, ends));
  const { counters, fate } = prospectOf(job.dependsOn, ends, 'each');
  if (fate === 'upstream_failed' || fate === 'condition') {
    await session.query(sql.skipLive, [jobId, fate]);
    const own = (flags & ~(FLAG.holdsKey | FLAG.notifiesFailure | FLAG.notifiesSuccess)) | ownFlags(job);
    const conclusion = new Conclusion(context, transaction);
    await conclusion.ended([{ jobId, flags: own, status: 'skipped', quiet: false }]);
    await conclusion.write();
    return;
  }
  const { open, held, broken, missed } = counters;
  const parentFlag = job.dependsOn.length === 0 ? 0 : FLAG.hasParents;
  await session.query(sql.relinkLive, [jobId, fate, open, held, broken, missed, parentFlag]);
}
