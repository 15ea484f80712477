/** The ledger of a schedule, as the reader lists it: without anything that judges ticks, which only the writer does. */

import type { Tick } from '../../../core/schedule/tick.ts';
import { decodeTick, type TickColumns } from '../../schedule-columns.ts';
import type { TickFilter } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Param } from '../base/database.ts';
import { ticksFrom } from '../sql/schedules.ts';
import { scheduleNamed } from './rows.ts';

export function ticks(
  context: Context,
  name: string,
  filter: TickFilter,
  { before, limit }: { before: number | null; limit: number },
): Tick[] | undefined {
  const schedule = scheduleNamed(context, name);
  if (schedule === undefined) return undefined;
  const conditions: string[] = ['schedule_id = ?'];
  const params: Param[] = [schedule.id];
  const must = (condition: string, value: Param) => {
    conditions.push(condition);
    params.push(value);
  };
  if (filter.key !== undefined) must('key = ?', filter.key);
  if (filter.kind !== undefined) must('kind = ?', filter.kind);
  if (filter.verdict !== undefined) must('verdict = ?', filter.verdict);
  if (before !== null) must('id < ?', before);
  const statement = `select ${ticksFrom} where ${conditions.join(' and ')} order by id desc limit ?`;
  return context.database.all<TickColumns>(statement, ...params, limit).map(decodeTick);
}
