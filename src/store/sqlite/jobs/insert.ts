import { type Dependency, isWaiting, type Job } from '../../../core/job.ts';
import { dueOfReplaced, followsRunning, isForeign, replacesWaiting, type Unique } from '../../../core/unique.ts';
import { edgesOf, placementOf } from '../../engine/graph/edges.ts';
import { FLAG } from '../../flags.ts';
import type { JobInsertOptions } from '../../job-store.ts';
import { keyHeld, keyHeldElsewhere, tooYoungParent } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { insertEdges, parentEndsOf } from '../graph/edges.ts';
import { insertDependent } from '../graph/insert-dependent.ts';
import { read } from '../reads/reading.ts';
import { NEW_JOB } from '../sql/insert.ts';
import { endWaiting } from './end-waiting.ts';
import { answeredBefore, remember } from './idempotency.ts';
import { fairQueuesOf, type NewJobRow } from './new-job-row.ts';
import { type Holder, holderOf, takeKey } from './unique.ts';

/** Encoded rows of new jobs. */
interface Rows {
  /** `NewJobRow[]` as JSON: SQLite reads it as it is. */
  rows: string;
  count: number;
  /** Keys of the lanes that the rows point at. */
  lanes: string[];
  /** Queues of jobs with a fair key. */
  fairQueues: string[];
  /** True if some are claimable at once. */
  work: boolean;
  /** When the first of the others will be due. */
  dueAt: number | null;
}

export interface InsertInput extends Rows, JobInsertOptions {
  /** The time at which the rows were encoded. */
  now: number;
  /** The unique key of each row; `null` if no row has one. */
  uniques: (Unique | null)[] | null;
  /** The dependencies of each row; `null` if no row has any. */
  dependencies: (readonly Dependency[])[] | null;
}

/** A new job's id, or an existing job. */
export type InsertedRow = number | readonly [job: Job, deduplicated: boolean];

export interface InsertAnswer {
  items: InsertedRow[];
  replayed: boolean;
}

export function insert(sent: Context, input: InsertInput): InsertAnswer {
  const context = { ...sent, now: input.now };
  const { idempotency } = input;
  if (idempotency !== undefined) {
    const answered = answeredBefore(context, idempotency);
    if (answered !== undefined) return { items: replay(context, answered.items), replayed: true };
  }
  const items = insertNew(context, input);
  if (input.rerunOf !== undefined) noteRerun(context, items, input.rerunOf);
  if (idempotency !== undefined) {
    const answer = items.map((item): readonly [number, boolean] => {
      if (typeof item === 'number') return [item, false];
      const [job, deduplicated] = item;
      return [job.id, deduplicated];
    });
    remember(context, idempotency, { items: answer, workflowId: null });
  }
  return { items, replayed: false };
}

function noteRerun({ database }: Context, items: readonly InsertedRow[], rerunOf: number): void {
  for (const item of items) if (typeof item === 'number') database.run(sql.setRerunOf, item, rerunOf);
}

function insertNew(context: Context, input: InsertInput): InsertedRow[] {
  const { uniques, dependencies } = input;
  if (uniques === null && dependencies === null) return insertAll(context, input);
  const ends = parentEndsOf(context, dependencies ?? []);
  for (const queue of uniques === null ? input.fairQueues : []) context.fairQueues.add(queue);
  const rows = JSON.parse(input.rows) as NewJobRow[];
  if (uniques !== null) return insertOneByOne(context, { ...input, rows }, uniques);
  const jobs = rows.map((row, index) => ({ row, flags: 0, dependencies: dependencies?.[index] ?? [] }));
  const ids = insertDependent(context, jobs, { lanes: input.lanes, ends });
  return read(context, ids).map((row) => [row, false]);
}

/** Inserts rows without keys and parents together. */
export function insertAll(
  context: Context,
  { rows, count, lanes, fairQueues, work, dueAt }: Rows,
  flags = 0,
): number[] {
  const { database, now, effects, graphUpdate } = context;
  for (const queue of fairQueues) context.fairQueues.add(queue);
  const laneIds = lanes.map((key) => context.lanes.idOf(key));
  const first = (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  database.run(sql.insertJobs, first, now, rows);
  database.run(sql.insertLive, first, rows, JSON.stringify(laneIds), flags);
  const ids = Array.from({ length: count }, (_, index) => first + index);
  if (work) {
    effects.insertedWork();
    for (const id of laneIds) context.heads.change(id);
    for (const id of ids) graphUpdate.claimable(id);
  }
  if (dueAt !== null) effects.willBeDue(dueAt);
  for (const id of ids) effects.changedJob(id);
  return ids;
}

interface OneByOne {
  rows: readonly NewJobRow[];
  lanes: string[];
  dependencies: (readonly Dependency[])[] | null;
}

function insertOneByOne(
  context: Context,
  { rows, lanes, dependencies: all }: OneByOne,
  uniques: readonly (Unique | null)[],
): InsertedRow[] {
  refuseConflicts(context, uniques, all);
  return rows.map((row, index): InsertedRow => {
    const unique = uniques[index] ?? null;
    const wanted = { row, unique, dependencies: all?.[index] ?? [], lanes };
    const held = unique === null ? undefined : holderOf(context, unique.key);
    if (unique === null || held === undefined) return insertOne(context, wanted);
    if (followsRunning(unique) && held.status === 'running') {
      if (unique.onConflict === 'supersede') askToStop(context, held.jobId);
      return insertOne(context, following(wanted, held.jobId));
    }
    if (isReplaced(unique, held)) {
      const debouncedRow = debounced(row, unique, held, context.now);
      replace(context, held.jobId, following({ ...wanted, row: debouncedRow }, held.after));
    }
    const [holder] = read(context, [held.jobId]);
    return holder === undefined ? insertOne(context, wanted) : [holder, true];
  });
}

interface Wanted {
  row: NewJobRow;
  unique: Unique | null;
  dependencies: readonly Dependency[];
  lanes: string[];
}

function insertOne(context: Context, { row, unique, dependencies, lanes }: Wanted): InsertedRow {
  const flags = unique === null ? 0 : FLAG.holdsKey;
  if (dependencies.length > 0) {
    // The key is taken first: a job that is skipped at once releases it.
    const ends = parentEndsOf(context, [dependencies]);
    if (unique !== null) takeKey(context, nextId(context), unique);
    for (const queue of fairQueuesOf([row])) context.fairQueues.add(queue);
    const [id] = insertDependent(context, [{ row, flags, dependencies }], { lanes, ends });
    return [read(context, [id as number])[0] as Job, false];
  }
  const work = row[NEW_JOB.status] === 'pending';
  const one = {
    rows: JSON.stringify([row]),
    count: 1,
    lanes,
    fairQueues: fairQueuesOf([row]),
    work,
    dueAt: work ? null : row[NEW_JOB.dueAt],
  };
  const id = insertAll(context, one, flags)[0] as number;
  if (unique !== null) takeKey(context, id, unique);
  return id;
}

/** Checked before anything is stored. */
function refuseConflicts(
  context: Context,
  uniques: readonly (Unique | null)[],
  dependencies: readonly (readonly Dependency[])[] | null,
): void {
  const keys = new Set<string>();
  uniques.forEach((unique, index) => {
    if (unique === null) return;
    const holder = holderOf(context, unique.key);
    if (unique.onConflict === 'reject' && (holder !== undefined || keys.has(unique.key))) {
      throw keyHeld(unique.key, holder?.jobId);
    }
    if (holder !== undefined && holder.queue !== null && isForeign(unique, holder.queue)) {
      throw keyHeldElsewhere(unique.key, holder.jobId, holder.queue);
    }
    keys.add(unique.key);
    if (holder === undefined || !isReplaced(unique, holder)) return;
    const parents = dependencies?.[index]?.map((parent) => parent.jobId) ?? [];
    const young = parents.find((parentId) => parentId >= holder.jobId);
    if (young !== undefined) throw tooYoungParent(holder.jobId, young);
  });
}

function isReplaced(unique: Unique, { status }: Holder): boolean {
  return replacesWaiting(unique) && status !== null && isWaiting(status);
}

/** `following` in core/unique.ts, for an encoded row. */
function following(wanted: Wanted, after: number | null): Wanted {
  if (after === null) return wanted;
  const [queue, kind, name, priority, tags, spec, ...rest] = wanted.row;
  const stored = JSON.stringify({ ...(JSON.parse(spec) as object), unique_after: after });
  const row: NewJobRow = [queue, kind, name, priority, tags, stored, ...rest];
  if (wanted.dependencies.some(({ jobId }) => jobId === after)) return { ...wanted, row };
  return { ...wanted, row, dependencies: [...wanted.dependencies, { jobId: after, condition: 'ended' }] };
}

function askToStop({ database, effects, now }: Context, jobId: number): void {
  const asked = database.get<{ worker_id: number | null }>(sql.askToStop, jobId, now);
  if (asked === undefined) return;
  if (asked.worker_id !== null) effects.changedWorker(asked.worker_id);
  effects.changedJob(jobId);
}

/** The row of a job that replaces a waiting one: due no later than the longest wait allows. */
function debounced(row: NewJobRow, unique: Unique, { createdAt }: Holder, now: number): NewJobRow {
  const [queue, kind, name, priority, tags, spec, lane, status, before, expiresAt, flags] = row;
  const dueAt = dueOfReplaced(unique, { dueAt: before, createdAt, now });
  if (dueAt === before) return row;
  const place = dueAt > now ? status : 'pending';
  const expires = expiresAt === null ? null : expiresAt - before + dueAt;
  return [queue, kind, name, priority, tags, spec, lane, place, dueAt, expires, flags];
}

/** Overwrites a waiting job with a new one under its id. */
function replace(context: Context, jobId: number, { row, unique, dependencies, lanes }: Wanted): void {
  const { database, effects } = context;
  const [queue, kind, name, priority, tags, spec, lane, status, dueAt, expiresAt, flags] = row;
  const ends = parentEndsOf(context, [dependencies]);
  const { counters, fate } = placementOf(dependencies, ends, 'each');
  const isFree = fate === 'free';
  const isChild = dependencies.length > 0;
  for (const name of fairQueuesOf([row])) context.fairQueues.add(name);
  database.run(sql.replaceJob, jobId, queue, kind, name, priority, tags, spec);
  database.run(
    sql.replaceLive,
    jobId,
    context.lanes.idOf(lanes[lane] as string),
    -priority,
    isFree ? status : 'blocked',
    dueAt,
    isFree ? expiresAt : null,
    flags | FLAG.holdsKey | (isChild ? FLAG.hasParents : 0),
    isChild ? counters.open : null,
    isChild ? counters.held : null,
    isChild ? counters.broken : null,
    isChild ? counters.missed : null,
  );
  database.run(sql.dropEdges, jobId);
  insertEdges(context, edgesOf(jobId, dependencies, ends));
  if (unique !== null) takeKey(context, jobId, unique);
  effects.changedJob(jobId);
  if (fate === 'upstream_failed' || fate === 'condition') skipReplaced(context, jobId, fate);
  else if (isFree && status === 'scheduled') effects.willBeDue(dueAt);
  else if (isFree) {
    effects.madeWork();
    context.graphUpdate.claimable(jobId);
  }
}

function skipReplaced(context: Context, jobId: number, reason: 'upstream_failed' | 'condition'): void {
  const live = context.database.get<{ flags: number }>(sql.liveState, jobId);
  endWaiting(context, { jobId, flags: live?.flags ?? 0 }, { status: 'skipped', reason });
}

function nextId({ database }: Context): number {
  return (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
}

/** The jobs as they are now, without those that retention has deleted. */
function replay(context: Context, answered: readonly (readonly [number, boolean])[]): InsertedRow[] {
  const rows = read(
    context,
    answered.map(([jobId]) => jobId),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return answered.flatMap(([jobId, deduplicated]) => {
    const row = byId.get(jobId);
    return row === undefined ? [] : [[row, deduplicated] as const];
  });
}
