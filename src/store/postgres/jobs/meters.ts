/** Limits and rates: what is in use of each, and what happens when an attempt ends. */

import type { Job } from '../../../core/job.ts';
import { keyOfMeter, limitName, type Meter, type MeterUse, queueMeter, rateName, roomOf } from '../../../core/meter.ts';
import type { LimitState, RateState } from '../../../core/meter-state.ts';
import type { QueueSettings } from '../../../core/queue.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';
import { read } from '../reads/reading.ts';

interface UseRow {
  max: number | null;
  opens_at: number | null;
  running: number;
  starts: number[];
  now: number;
}

/** In the order of the names, with the instant at which that was so. */
export async function readMeterUses(
  sql: Sql,
  session: Session,
  names: readonly string[],
): Promise<{ uses: MeterUse[]; now: number }> {
  const rows = await session.query<UseRow>(sql.meterUses, [names]);
  const uses = rows.map(({ max, opens_at, running, starts }) => ({ max, opensAt: opens_at, running, starts }));
  return { uses, now: rows[0]?.now ?? 0 };
}

export async function meterUse(
  { database, sql }: Context,
  names: readonly string[],
  signal: AbortSignal,
): Promise<MeterUse[]> {
  const single: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  return (await readMeterUses(sql, single, names)).uses;
}

/** A queue that is paused, or has a limit or a rate. */
export interface LimitedQueue {
  name: string;
  paused: boolean;
  max_running: number | null;
  rate: QueueSettings['rate'];
}

/** What the rates of queues allow now, and their meters, by queue. */
export async function readQueueRooms(
  sql: Sql,
  session: Session,
  queues: readonly LimitedQueue[],
): Promise<{ rooms: Map<string, ReturnType<typeof roomOf>>; meters: Map<string, Meter> }> {
  const meters = new Map(
    queues.flatMap(({ name, rate }) => (rate === null ? [] : [[name, queueMeter(name, rate)] as const])),
  );
  if (meters.size === 0) return { rooms: new Map(), meters };
  const names = [...meters.values()].map(({ name }) => name);
  const { uses, now } = await readMeterUses(sql, session, names);
  const rooms = [...meters].map(([queue, meter], place) => {
    return [queue, roomOf(meter, uses[place] as MeterUse, now)] as const;
  });
  return { rooms: new Map(rooms), meters };
}

export function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

interface EndedAttempts {
  /** Jobs with limits. */
  limited: readonly number[];
  /** Jobs whose attempts were returned unstarted. */
  returned: readonly number[];
}

/** Attempts have ended: jobs that wait for their meters may start. These are the last locks of a transaction. */
export async function releaseMeters(sql: Sql, session: Session, { limited, returned }: EndedAttempts): Promise<void> {
  if (limited.length + returned.length === 0) return;
  const values = [numbers(limited), numbers(returned)];
  const locked = await session.query(sql.lockMeters, values);
  // Read in a later statement than the locks: see 'Locking' in docs/architecture.md.
  if (locked.length > 0) await session.query(sql.releaseMeters, values);
}

type LimitRow = Omit<LimitState, 'key'> & { name: string };

function limitOf({ name, max, running, waiting }: LimitRow): LimitState {
  return { key: keyOfMeter(name), max, running, waiting };
}

export async function limits({ database, sql }: Context, signal: AbortSignal): Promise<LimitState[]> {
  return (await database.query<LimitRow>(sql.limits, [null], signal)).map(limitOf);
}

export async function setLimit(
  { database, sql, hints }: Context,
  key: string,
  max: number | null,
  signal: AbortSignal,
): Promise<LimitState> {
  const name = limitName(key);
  const row = await database.transaction(signal, async (session) => {
    await session.query(sql.setLimit, [name, max]);
    await session.query(sql.openParkings, [[name]]);
    const [written] = await session.query<LimitRow>(sql.limits, [name]);
    return written;
  });
  hints.announce({ work: true });
  return row === undefined ? { key, max, running: 0, waiting: 0 } : limitOf(row);
}

interface RateRow {
  name: string;
  opens_at: number | null;
  started: number;
  waiting: number;
}

function rateOf({ name, opens_at, started, waiting }: RateRow): RateState {
  return { key: keyOfMeter(name), started, opensAt: opens_at, waiting };
}

export async function rates({ database, sql }: Context, signal: AbortSignal): Promise<RateState[]> {
  return (await database.query<RateRow>(sql.rates, [null], signal)).map(rateOf);
}

export async function closeRate(
  { database, sql }: Context,
  key: string,
  ms: number,
  signal: AbortSignal,
): Promise<RateState> {
  await database.query(sql.closeRate, [rateName(key), ms], signal);
  const [row] = await database.query<RateRow>(sql.rates, [rateName(key)], signal);
  return rateOf(row as RateRow);
}

export async function holders(
  { database, sql }: Context,
  key: string,
  atMost: number,
  signal: AbortSignal,
): Promise<number[]> {
  const rows = await database.query<{ job_id: number }>(sql.holders, [limitName(key), atMost], signal);
  return rows.map(({ job_id }) => job_id);
}

export async function countAheadAt(
  { database, sql }: Context,
  meter: string,
  jobId: number,
  atMost: number,
  signal: AbortSignal,
): Promise<number> {
  const [row] = await database.query<{ count: number }>(sql.countAheadAt, [meter, jobId, atMost], signal);
  return row?.count ?? 0;
}

export async function findSkippable(context: Context, limit: number, signal: AbortSignal): Promise<Job[]> {
  const rows = await context.database.query<{ job_id: number }>(context.sql.parkedToSkip, [limit], signal);
  if (rows.length === 0) return [];
  return await read(
    context,
    rows.map(({ job_id }) => job_id),
    signal,
  );
}
