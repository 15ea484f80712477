/** The newest rows of the ledgers, and the state of their runs. */

import type { RunState, Tick } from '../../../core/schedule/tick.ts';
import { decodeRunState, decodeTick, type RunStateColumns, type TickColumns } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export function recentTicks(
  { database }: Context,
  { schedules: names, from, each }: { schedules: readonly string[]; from: number; each: number },
): (Tick & { schedule: string })[] {
  return database
    .all<TickColumns & { schedule: string }>(sql.recentTicks, JSON.stringify(names), from, each)
    .map((row) => ({ ...decodeTick(row), schedule: row.schedule }));
}

export function runStates({ database }: Context, tickIds: readonly number[]): (RunState & { tickId: number })[] {
  return database.all<RunStateColumns>(sql.runStates, JSON.stringify(tickIds)).map(decodeRunState);
}
