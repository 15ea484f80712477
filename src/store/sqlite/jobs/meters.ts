/** Limits and rates: what is in use of each, and what happens when an attempt starts or ends. */

import { keyOfMeter, limitName, type MeterUse, rateName } from '../../../core/meter.ts';
import type { LimitState, RateState } from '../../../core/meter-state.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import type { JobRow } from '../reads/job-row.ts';
import { read } from '../reads/reading.ts';

interface UseRow {
  name: string;
  max: number | null;
  opens_at: number | null;
  running: number;
  starts: string;
}

/** In the order of the names. */
export function meterUse({ database }: Pick<Context, 'database'>, names: readonly string[]): MeterUse[] {
  return database.all<UseRow>(sql.meterUses, JSON.stringify(names)).map(({ max, opens_at, running, starts }) => ({
    max,
    opensAt: opens_at,
    running,
    starts: JSON.parse(starts) as number[],
  }));
}

/** Attempts have ended. Jobs that wait for their limits may start; and for their rates, if they were returned unstarted. */
export function releaseMeters(
  { database }: Context,
  jobIds: readonly number[],
  { returned }: { returned: boolean },
): void {
  const names = jobIds
    .flatMap((id) => database.tuples<[string]>(sql.releaseMeters, id, returned ? 1 : 0))
    .map(([name]) => name);
  if (names.length > 0) database.run(sql.openParkings, JSON.stringify(names));
}

export function limits(context: Context): LimitState[] {
  return readLimits(context, null);
}

/** Reads all limits, or the one of this key. */
function readLimits({ database }: Context, key: string | null): LimitState[] {
  type Row = Omit<LimitState, 'key'> & { name: string };
  const rows = database.all<Row>(sql.limits, key === null ? null : limitName(key));
  return rows.map(({ name, ...state }) => ({ key: keyOfMeter(name), ...state }));
}

export function setLimit(context: Context, key: string, max: number | null): LimitState {
  const { database, effects } = context;
  database.run(sql.setLimit, limitName(key), max);
  database.run(sql.openParkings, JSON.stringify([limitName(key)]));
  effects.madeRoom();
  return readLimits(context, key)[0] ?? { key, max, running: 0, waiting: 0 };
}

export function rates(context: Context): RateState[] {
  return readRates(context, null);
}

function readRates({ database, now }: Context, key: string | null): RateState[] {
  type Row = { name: string; opens_at: number | null; started: number; waiting: number };
  return database
    .all<Row>(sql.rates, key === null ? null : rateName(key), now)
    .map(({ name, opens_at, ...state }) => ({ key: keyOfMeter(name), opensAt: opens_at, ...state }));
}

export function closeRate(context: Context, key: string, ms: number): RateState {
  const { database, now } = context;
  database.run(sql.closeRate, rateName(key), now + Math.round(ms));
  return readRates(context, key)[0] as RateState;
}

export function holders({ database }: Context, key: string, atMost: number): number[] {
  return database.tuples<[number]>(sql.holders, limitName(key), atMost).map(([id]) => id);
}

export function countAheadAt({ database }: Context, meter: string, jobId: number, atMost: number): number {
  const own = database.get<{ rank: number; turn: number; due: number }>(sql.pendingLane, jobId);
  if (own === undefined) return 0;
  const { rank, turn, due } = own;
  return database.get<{ count: number }>(sql.countAheadAt, meter, rank, turn, due, jobId, atMost)?.count ?? 0;
}

export function findSkippable(context: Context, limit: number): JobRow[] {
  return read(
    context,
    context.database.tuples<[number]>(sql.parkedToSkip, limit).map(([id]) => id),
  );
}
