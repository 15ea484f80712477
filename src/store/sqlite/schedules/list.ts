/** Schedules and their ledger, as the reader lists them: without the writer's modules that change and judge them. */

import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Tick } from '../../../core/schedule/tick.ts';
import { decodeTick, type TickColumns } from '../../schedule-columns.ts';
import type { ScheduleFilter, TickFilter } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Param } from '../base/database.ts';
import { schedulesFrom, ticksFrom } from '../sql/schedules.ts';
import { type ScheduleRow, scheduleNamed, toSchedule } from './rows.ts';

export function schedules(
  { database }: Context,
  filter: ScheduleFilter,
  { after, limit }: { after: string | null; limit: number },
): Schedule[] {
  const conditions: string[] = ['true'];
  const params: Param[] = [];
  const must = (condition: string, value: Param) => {
    conditions.push(condition);
    params.push(value);
  };
  if (filter.owner !== undefined) must('s.owner = ?', filter.owner);
  if (filter.text !== undefined) must('instr(s.name, ?) > 0', filter.text);
  if (after !== null) must('s.name > ?', after);
  const statement = `select ${schedulesFrom} where ${conditions.join(' and ')} order by s.name limit ?`;
  return database.all<ScheduleRow>(statement, ...params, limit).map(toSchedule);
}

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
