/** Schedules, as the reader lists them: without anything that changes one, which only the writer does. */

import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { ScheduleFilter } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Param } from '../base/database.ts';
import { schedulesFrom } from '../sql/schedules.ts';
import { type ScheduleRow, toSchedule } from './rows.ts';

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
