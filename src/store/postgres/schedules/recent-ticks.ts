/** The newest rows of the ledgers, and the state of their runs. */

import type { RunState, Tick } from '../../../core/schedule/tick.ts';
import { decodeRunState, decodeTick, type RunStateColumns, type TickColumns } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import { numbers, texts } from '../base/values.ts';

export async function recentTicks(
  { database, sql }: Context,
  { schedules, from, each }: { schedules: readonly string[]; from: number; each: number },
  signal: AbortSignal,
): Promise<(Tick & { schedule: string })[]> {
  type Row = TickColumns & { schedule: string };
  const rows = await database.query<Row>(sql.recentTicks, [texts(schedules), from, each], signal);
  return rows.map((row) => ({ ...decodeTick(row), schedule: row.schedule }));
}

export async function runStates(
  { database, sql }: Context,
  tickIds: readonly number[],
  signal: AbortSignal,
): Promise<(RunState & { tickId: number })[]> {
  return (await database.query<RunStateColumns>(sql.runStates, [numbers(tickIds)], signal)).map(decodeRunState);
}
