/** Meters: what is in use of each, and what happens when a job starts, ends or is returned. */

import type { Job } from '../../../core/job.ts';
import {
  keyOfMeter,
  limitName,
  type Meter,
  type MeterUse,
  metersOf,
  queueMeter,
  queueMeterName,
  rateName,
  roomOf,
} from '../../../core/meter.ts';
import type { LimitState, RateState } from '../../../core/meter-state.ts';
import type { Entry } from '../base/entry.ts';
import { isAhead } from '../base/live.ts';
import { jobOf, type Tables } from '../base/tables.ts';

export interface MeterRow {
  max: number | null;
  opensAt: number | null;
  /** The longest window that a job has asked for. */
  windowMs: number;
  starts: { at: number; jobId: number; attempt: number }[];
}

export function useOf(tables: Tables, name: string): MeterUse {
  const row = tables.meters.get(name);
  return {
    max: row?.max ?? null,
    opensAt: row?.opensAt ?? null,
    running: tables.live.runningWith(name),
    starts: (row?.starts ?? []).map(({ at }) => at),
  };
}

/** How many more jobs of a queue its rate allows to start; `undefined` if it has none. */
export function queueRoom(tables: Tables, queue: string): ReturnType<typeof roomOf> | undefined {
  const rate = tables.queues.get(queue)?.rate ?? null;
  if (rate === null) return undefined;
  return roomOf(queueMeter(queue, rate), useOf(tables, queueMeterName(queue)), tables.clock.now());
}

function metersWithQueue(tables: Tables, { spec }: Entry): Meter[] {
  const rate = tables.queues.get(spec.queue)?.rate ?? null;
  return rate === null ? metersOf(spec) : [...metersOf(spec), queueMeter(spec.queue, rate)];
}

/** Records the start of an attempt with its rates. */
export function noteStart(tables: Tables, entry: Entry): void {
  const { id, attempt } = entry;
  const now = tables.clock.now();
  for (const { name, windowMs } of metersWithQueue(tables, entry)) {
    if (windowMs === null) continue;
    const row = rowOf(tables, name);
    row.windowMs = Math.max(row.windowMs, windowMs);
    row.starts = row.starts.filter(({ at }) => at > now - row.windowMs);
    row.starts.push({ at: now, jobId: id, attempt });
  }
}

/** An attempt has ended. One that was returned has not started. */
export function releaseMeters(tables: Tables, entry: Entry, { returned }: { returned: boolean }): void {
  const { id, attempt } = entry;
  for (const { name, windowMs } of metersWithQueue(tables, entry)) {
    if (windowMs !== null && !returned) continue;
    const row = tables.meters.get(name);
    if (row !== undefined) row.starts = row.starts.filter((start) => start.jobId !== id || start.attempt !== attempt);
    tables.live.parkings.reopen(name);
  }
}

export function limits(tables: Tables): LimitState[] {
  const set = [...tables.meters].filter(([, { max }]) => max !== null).map(([name]) => name);
  const names = new Set([...set, ...tables.live.metersInUse(), ...parkedFor(tables)]);
  return [...names]
    .filter((name) => name === limitName(keyOfMeter(name)))
    .sort()
    .map((name) => limitOf(tables, name));
}

export function setLimit(tables: Tables, key: string, max: number | null): LimitState {
  const name = limitName(key);
  rowOf(tables, name).max = max;
  tables.live.parkings.reopen(name);
  tables.changes.madeWork();
  return limitOf(tables, name);
}

export function rates(tables: Tables): RateState[] {
  const now = tables.clock.now();
  const used = [...tables.meters.keys()].filter((name) => isInUse(tables, name, now));
  const names = new Set([...used, ...parkedFor(tables)]);
  return [...names]
    .filter((name) => name === rateName(keyOfMeter(name)))
    .sort()
    .map((name) => rateOf(tables, name));
}

/** Closes a rate for everybody. A time that is closed already is not made shorter. */
export function closeRate(tables: Tables, key: string, ms: number): RateState {
  const name = rateName(key);
  const row = rowOf(tables, name);
  row.opensAt = Math.max(row.opensAt ?? 0, tables.clock.now() + ms);
  return rateOf(tables, name);
}

export function meterUse(tables: Tables, names: readonly string[]): MeterUse[] {
  return names.map((name) => useOf(tables, name));
}

export function holders(tables: Tables, key: string, atMost: number): number[] {
  return tables.live.holdersOf(limitName(key)).slice(0, atMost);
}

export function countAheadAt(tables: Tables, meter: string, jobId: number, atMost: number): number {
  const entry = tables.jobs.get(jobId);
  if (entry?.status !== 'pending') return 0;
  const lines = [...tables.live.parkings.all()].filter((parking) => parking.meter === meter && !parking.skips);
  const ahead = lines.flatMap(({ line }) => [...line.values()]).filter((other) => isAhead(other, entry));
  return Math.min(ahead.length, atMost);
}

export function findSkippable(tables: Tables, limit: number): Job[] {
  return [...tables.live.parkings.all()]
    .filter(({ skips }) => skips)
    .flatMap(({ line }) => [...line.values()])
    .sort((a, b) => a.id - b.id)
    .slice(0, limit)
    .map((entry) => jobOf(tables, entry));
}

/** True if the row says no more than none would. */
export function isUnused(tables: Tables, name: string, { max }: MeterRow): boolean {
  return max === null && !name.startsWith('queue:') && !isInUse(tables, name, tables.clock.now());
}

function limitOf(tables: Tables, name: string): LimitState {
  const { max, running } = useOf(tables, name);
  return { key: keyOfMeter(name), max, running, waiting: waitingFor(tables, name) };
}

function rateOf(tables: Tables, name: string): RateState {
  const now = tables.clock.now();
  const row = tables.meters.get(name);
  const opensAt = (row?.opensAt ?? 0) > now ? (row?.opensAt ?? null) : null;
  const recent = (row?.starts ?? []).filter(({ at }) => at > now - (row?.windowMs ?? 0));
  return { key: keyOfMeter(name), started: recent.length, opensAt, waiting: waitingFor(tables, name) };
}

function isInUse(tables: Tables, name: string, now: number): boolean {
  const { opensAt, starts, windowMs } = tables.meters.get(name) as MeterRow;
  return (opensAt ?? 0) > now || starts.some(({ at }) => at > now - windowMs);
}

function* parkedFor(tables: Tables): Generator<string> {
  for (const { meter } of tables.live.parkings.all()) yield meter;
}

function waitingFor(tables: Tables, name: string): number {
  let waiting = 0;
  for (const { meter, line } of tables.live.parkings.all()) if (meter === name) waiting += line.size;
  return waiting;
}

function rowOf(tables: Tables, name: string): MeterRow {
  let row = tables.meters.get(name);
  if (row === undefined) {
    row = { max: null, opensAt: null, windowMs: 0, starts: [] };
    tables.meters.set(name, row);
  }
  return row;
}
