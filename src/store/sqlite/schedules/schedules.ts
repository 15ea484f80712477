/** Schedules: made, changed, deleted, read. */

import { beginLines, changeSchedule as decideChange, keysOf } from '../../../core/schedule/change-schedule.ts';
import { planLine } from '../../../core/schedule/plan-line.ts';
import type { NewSchedule, Schedule, ScheduleChange } from '../../../core/schedule/schedule.ts';
import { scheduleExists } from '../../refusals.ts';
import { decodeLine, type LineColumns, specOfSchedule } from '../../schedule-columns.ts';
import type { ScheduleFilter } from '../../store.ts';
import type { Context } from '../context.ts';
import type { Param } from '../database.ts';
import { openRuns, type ScheduleRow, scheduleNamed, toSchedule } from './rows.ts';
import { schedulesFrom, sql } from './statements.ts';
import { writePlan } from './tick.ts';

export function createSchedule(context: Context, schedule: NewSchedule): Schedule {
  const { database, now, effects } = context;
  const { name, owner } = schedule;
  const begin = beginLines(schedule, now);
  const made = database.run(sql.insertSchedule, name, owner, JSON.stringify(specOfSchedule(schedule)), now);
  if (made === 0) throw scheduleExists(name);
  const { id } = scheduleNamed(context, name) as Schedule;
  for (const key of keysOf(schedule)) database.run(sql.insertLine, id, key, begin.cursor, begin.nextDue);
  effects.changedSchedule();
  return scheduleNamed(context, name) as Schedule;
}

export function changeSchedule(
  context: Context,
  { name, change }: { name: string; change: ScheduleChange },
): Schedule | undefined {
  const { database, now, effects } = context;
  const before = scheduleNamed(context, name);
  if (before === undefined) return undefined;
  const { schedule, begin, restart } = decideChange(before, change, now);
  judgeAll(context, before);
  const { id, owner, updatedAt, pausedAt, pausedNote } = schedule;
  const spec = JSON.stringify(specOfSchedule(schedule));
  database.run(sql.updateSchedule, id, owner, spec, updatedAt, pausedAt, pausedNote);
  const keys = new Set(keysOf(schedule));
  for (const line of database.all<LineColumns>(sql.linesOf, id)) {
    if (!keys.delete(line.key)) database.run(sql.deleteLine, line.id);
    else if (restart && begin !== null) database.run(sql.moveLine, line.id, begin.cursor, begin.nextDue, null, null);
  }
  if (begin !== null) for (const key of keys) database.run(sql.insertLine, id, key, begin.cursor, begin.nextDue);
  effects.changedSchedule();
  return scheduleNamed(context, name);
}

/** What is due by what the schedule is now. */
function judgeAll(context: Context, schedule: Schedule): void {
  const { database, now } = context;
  for (const row of database.all<LineColumns>(sql.linesOf, schedule.id)) {
    if (row.next_due === null || row.next_due > now) continue;
    const open = openRuns(context, row.id);
    const plan = planLine({ schedule, line: decodeLine(row), open: open.length, now }, Infinity);
    writePlan(context, schedule, { plan, open });
  }
}

export function deleteSchedule(context: Context, name: string): boolean {
  const found = scheduleNamed(context, name);
  if (found === undefined) return false;
  context.database.run(sql.deleteLines, found.id);
  context.database.run(sql.deleteSchedule, found.id);
  return true;
}

export function schedule(context: Context, name: string): Schedule | undefined {
  return scheduleNamed(context, name);
}

export interface SchedulesInput {
  filter: ScheduleFilter;
  after: string | null;
  limit: number;
}

export function schedules({ database }: Context, { filter, after, limit }: SchedulesInput): Schedule[] {
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
