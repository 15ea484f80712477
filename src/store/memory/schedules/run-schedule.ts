/** Manual runs and backfills of a schedule, and its ledger. */

import { type PlannedTick, planBackfill, planManual } from '../../../core/schedule/plan-line.ts';
import type { Tick } from '../../../core/schedule/tick.ts';
import type { InsertOptions } from '../../job-store.ts';
import { unknownKeys } from '../../refusals.ts';
import type { RunRequest, TickFilter } from '../../schedule-store.ts';
import type { Tables } from '../base/tables.ts';
import { answeredBefore } from '../jobs/idempotency.ts';
import { type LineRow, type ScheduleRow, toTick } from './rows.ts';
import { openRuns, writeTicks } from './write-ticks.ts';

export function runSchedule(
  tables: Tables,
  name: string,
  request: RunRequest,
  { idempotency }: InsertOptions,
): { ticks: Tick[]; replayed: boolean } | undefined {
  const answered = idempotency === undefined ? undefined : answeredBefore(tables, idempotency);
  if (answered !== undefined) return { ticks: replay(tables, answered.tickIds ?? []), replayed: true };
  const row = tables.schedules.get(name);
  if (row === undefined) return undefined;
  const ticks = linesOf(row, request.keys)
    .flatMap((line) => {
      const open = openRuns(tables, line.id);
      return writeTicks(tables, row, { ticks: planned(tables, row, line, request), open });
    })
    .map(toTick);
  if (idempotency !== undefined) {
    const { key, fingerprint } = idempotency;
    const answer = { items: [], workflowId: null, tickIds: ticks.map(({ id }) => id) };
    tables.idempotency.set(key, { fingerprint, ...answer, createdAt: tables.clock.now() });
  }
  return { ticks, replayed: false };
}

/** Rows that retention has deleted are left out. */
function replay(tables: Tables, ids: readonly number[]): Tick[] {
  return ids.flatMap((id) => tables.ticks.get(id) ?? []).map(toTick);
}

function linesOf({ name, lines }: ScheduleRow, keys: readonly string[] | null): LineRow[] {
  if (keys === null) return [...lines.values()];
  const unknown = keys.filter((key) => !lines.has(key));
  if (unknown.length > 0) throw unknownKeys(name, unknown);
  return keys.map((key) => lines.get(key) as LineRow);
}

function planned(
  tables: Tables,
  row: ScheduleRow,
  line: LineRow,
  { kind, instants, notify = [] }: RunRequest,
): PlannedTick[] {
  const open = openRuns(tables, line.id).length;
  const request = { schedule: row, line, open, now: tables.clock.now(), notify };
  if (kind === 'manual') return [planManual(request)];
  return planBackfill(request, withoutRun(row, line.key, instants));
}

export function ticksWithoutRun(
  tables: Tables,
  name: string,
  { key, instants }: { key: string; instants: readonly number[] },
): number[] | undefined {
  const row = tables.schedules.get(name);
  return row === undefined ? undefined : withoutRun(row, key, instants);
}

function withoutRun({ ledger }: ScheduleRow, key: string, instants: readonly number[]): number[] {
  const ran = ledger.filter((tick) => tick.key === key && tick.verdict === 'ran' && tick.kind !== 'manual');
  const taken = new Set(ran.map(({ scheduledFor }) => scheduledFor));
  return instants.filter((instant) => !taken.has(instant));
}

export function ticks(
  tables: Tables,
  name: string,
  { key, kind, verdict }: TickFilter,
  { before, limit }: { before: number | null; limit: number },
): Tick[] | undefined {
  return tables.schedules
    .get(name)
    ?.ledger.filter((row) => before === null || row.id < before)
    .filter((row) => key === undefined || row.key === key)
    .filter((row) => (kind === undefined || row.kind === kind) && (verdict === undefined || row.verdict === verdict))
    .slice(-limit)
    .reverse()
    .map(toTick);
}

export function pruneTicks(tables: Tables, keepMs: number, limit: number): number {
  const before = tables.clock.now() - keepMs;
  const old = [
    ...tables.ticks
      .values()
      .filter(({ createdAt }) => createdAt < before)
      .take(limit),
  ];
  const ids = new Set(old.map(({ id }) => id));
  for (const row of old) tables.ticks.delete(row.id);
  for (const { ledger } of tables.schedules.values()) {
    const kept = ledger.filter(({ id }) => !ids.has(id));
    if (kept.length < ledger.length) ledger.splice(0, ledger.length, ...kept);
  }
  return old.length;
}
