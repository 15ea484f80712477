/** Runs of a schedule that a person asks for, and the ledger. */

import { planBackfill, planManual } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Tick } from '../../../core/schedule/tick.ts';
import type { InsertOptions } from '../../job-store.ts';
import { unknownKeys } from '../../refusals.ts';
import { decodeLine, decodeTick, type LineColumns, type TickColumns } from '../../schedule-columns.ts';
import type { RunRequest } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { answeredBefore, remember } from '../jobs/idempotency.ts';
import { openRuns, scheduleNamed } from './rows.ts';
import { writeTicks } from './write-ticks.ts';

export function runSchedule(
  context: Context,
  name: string,
  request: RunRequest,
  { idempotency }: InsertOptions,
): { ticks: Tick[]; replayed: boolean } | undefined {
  const answered = idempotency === undefined ? undefined : answeredBefore(context, idempotency);
  if (answered !== undefined) return { ticks: replay(context, answered.items), replayed: true };
  const schedule = scheduleNamed(context, name);
  if (schedule === undefined) return undefined;
  const { now } = context;
  const ticks = linesOf(context, schedule, request.keys).flatMap((row) => {
    const open = openRuns(context, row.id);
    const asked = { schedule, line: decodeLine(row), open: open.length, now, notify: request.notify ?? [] };
    const planned =
      request.kind === 'manual'
        ? [planManual(asked)]
        : planBackfill(asked, withoutRun(context, schedule, { key: row.key, instants: request.instants }));
    return writeTicks(context, schedule, { ticks: planned, open });
  });
  if (idempotency !== undefined) {
    remember(context, idempotency, { items: ticks.map(({ id }) => [id, false]), workflowId: null });
  }
  return { ticks, replayed: false };
}

/** What retention has deleted meanwhile is left out. */
function replay({ database }: Context, items: readonly (readonly [number, boolean])[]): Tick[] {
  const ids = JSON.stringify(items.map(([id]) => id));
  return database.all<TickColumns>(sql.ticksByIds, ids).map(decodeTick);
}

function linesOf({ database }: Context, { id, name }: Schedule, keys: readonly string[] | null): LineColumns[] {
  const lines = database.all<LineColumns>(sql.linesOf, id);
  if (keys === null) return lines;
  const byKey = new Map(lines.map((line) => [line.key, line]));
  const unknown = keys.filter((key) => !byKey.has(key));
  if (unknown.length > 0) throw unknownKeys(name, unknown);
  return keys.map((key) => byKey.get(key) as LineColumns);
}

export function ticksWithoutRun(
  context: Context,
  name: string,
  request: { key: string; instants: readonly number[] },
): number[] | undefined {
  const schedule = scheduleNamed(context, name);
  return schedule === undefined ? undefined : withoutRun(context, schedule, request);
}

function withoutRun(
  { database }: Context,
  { id }: Schedule,
  { key, instants }: { key: string; instants: readonly number[] },
): number[] {
  const [first, last] = [instants[0], instants.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rows = database.all<{ scheduled_for: number }>(sql.ranTicks, id, key, first, last);
  const ran = new Set(rows.map((row) => row.scheduled_for));
  return instants.filter((instant) => !ran.has(instant));
}

export function pruneTicks({ database, now }: Context, keepMs: number, limit: number): number {
  return database.run(sql.pruneTicks, now - keepMs, limit);
}
