import { WorkronError } from '../../core/error.ts';
import { isWaiting, type Unique } from '../../core/job.ts';
import { IDEMPOTENCY_MS, type InsertOptions } from '../store.ts';
import type { Context } from './context.ts';
import { HOLDS_KEY } from './finish.ts';
import type { JobRow } from './job-row.ts';
import type { NewJobRow } from './new-job-row.ts';
import { read } from './reading.ts';
import { sql } from './sql.ts';
import { holderOf, takeKey } from './unique.ts';

/** New rows on their way into the tables. */
export interface Rows {
  /** `NewJobRow[]` as JSON: SQLite reads it as it is. */
  rows: string;
  count: number;
  /** Keys of the lanes that the rows point at. */
  lanes: string[];
  /** Some are claimable at once. */
  work: boolean;
  /** When the first of those that are not will be. */
  dueAt: number | null;
}

export interface InsertInput extends Rows, InsertOptions {
  /** By which the rows were made. */
  now: number;
  /** By row; `null` where no row has one. */
  uniques: (Unique | null)[] | null;
}

/** A new job's id, or a job that was there before. */
export type InsertedRow = number | readonly [job: JobRow, deduplicated: boolean];

export interface InsertAnswer {
  items: InsertedRow[];
  replayed: boolean;
}

export function insert(sent: Context, input: InsertInput): InsertAnswer {
  const { now } = input;
  const context = { ...sent, now };
  const { database } = context;
  const { idempotency } = input;
  if (idempotency !== undefined) {
    const answered = answeredBefore(context, idempotency);
    if (answered !== undefined) return { items: replay(context, answered), replayed: true };
  }
  const items = input.uniques === null ? insertAll(context, input) : insertOneByOne(context, input, input.uniques);
  if (idempotency !== undefined) {
    const answer: Answered = items.map((item) => (typeof item === 'number' ? [item, false] : [item[0][0], item[1]]));
    database.run(sql.insertIdempotency, idempotency.key, idempotency.fingerprint, JSON.stringify(answer), now);
  }
  return { items, replayed: false };
}

/** Rows that nobody can be in the way of go in together. */
function insertAll(context: Context, { rows, count, lanes, work, dueAt }: Rows, flags = 0): number[] {
  const { database, now, effects } = context;
  const laneIds = JSON.stringify(lanes.map((key) => context.lanes.idOf(key)));
  const first = (database.get<{ id: number }>(sql.lastJobId)?.id ?? 0) + 1;
  database.run(sql.insertJobs, first, now, rows);
  database.run(sql.insertLive, first, rows, laneIds, flags);
  const ids = Array.from({ length: count }, (_, index) => first + index);
  if (work) effects.madeWork();
  if (dueAt !== null) effects.willBeDue(dueAt);
  for (const id of ids) effects.changedJob(id);
  return ids;
}

function insertOneByOne(context: Context, input: InsertInput, uniques: readonly (Unique | null)[]): InsertedRow[] {
  refuseConflicts(context, uniques);
  const rows = JSON.parse(input.rows) as NewJobRow[];
  return rows.map((row, index): InsertedRow => {
    const unique = uniques[index] ?? null;
    const held = unique === null ? undefined : holderOf(context, unique.key);
    if (unique !== null && held !== undefined) {
      if (unique.onConflict === 'replace' && held.status !== null && isWaiting(held.status)) {
        replace(context, held.jobId, { row, unique, lane: input.lanes[row[6]] as string });
      }
      const [holder] = read(context, [held.jobId]);
      if (holder !== undefined) return [holder, true];
    }
    const id = insertOne(context, row, { lanes: input.lanes, flags: unique === null ? 0 : HOLDS_KEY });
    if (unique !== null) takeKey(context, id, unique);
    return id;
  });
}

function insertOne(context: Context, row: NewJobRow, { lanes, flags }: { lanes: string[]; flags: number }): number {
  const work = row[7] === 'pending';
  const one = { rows: JSON.stringify([row]), count: 1, lanes, work, dueAt: work ? null : row[8] };
  return insertAll(context, one, flags)[0] as number;
}

/** Before anything is stored. */
function refuseConflicts(context: Context, uniques: readonly (Unique | null)[]): void {
  const keys = new Set<string>();
  for (const unique of uniques) {
    if (unique === null) continue;
    const holder = holderOf(context, unique.key);
    if (unique.onConflict === 'reject' && (holder !== undefined || keys.has(unique.key))) {
      const by = holder === undefined ? 'an earlier job of this request' : `job ${holder.jobId}`;
      throw new WorkronError(
        'unique_conflict',
        `The unique key ${JSON.stringify(unique.key)} is held by ${by}`,
        holder === undefined ? {} : { jobId: holder.jobId },
      );
    }
    keys.add(unique.key);
  }
}

/** A job that still waits becomes what was asked for now, under its id. */
function replace(
  context: Context,
  jobId: number,
  { row, unique, lane }: { row: NewJobRow; unique: Unique; lane: string },
): void {
  const { database, lanes, effects } = context;
  const [queue, kind, name, priority, tags, spec, , status, dueAt, expiresAt] = row;
  database.run(sql.replaceJob, jobId, queue, kind, name, priority, tags, spec);
  database.run(sql.replaceLive, jobId, lanes.idOf(lane), -priority, status, dueAt, expiresAt, HOLDS_KEY);
  takeKey(context, jobId, unique);
  if (status === 'scheduled') effects.willBeDue(dueAt);
  else effects.madeWork();
  effects.changedJob(jobId);
}

type Answered = (readonly [jobId: number, deduplicated: boolean])[];

function answeredBefore(
  { database, now }: Context,
  { key, fingerprint }: { key: string; fingerprint: string },
): Answered | undefined {
  const stored = database.get<{ fingerprint: string; answer: string }>(sql.idempotency, key, now - IDEMPOTENCY_MS);
  if (stored === undefined) return undefined;
  if (stored.fingerprint !== fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  return JSON.parse(stored.answer) as Answered;
}

/** The jobs as they are now; what retention has deleted meanwhile is left out. */
function replay(context: Context, answered: Answered): InsertedRow[] {
  const rows = read(
    context,
    answered.map(([jobId]) => jobId),
  );
  const byId = new Map(rows.map((row) => [row[0], row]));
  return answered.flatMap(([jobId, deduplicated]) => {
    const row = byId.get(jobId);
    return row === undefined ? [] : [[row, deduplicated] as const];
  });
}
