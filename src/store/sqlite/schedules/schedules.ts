/** Creates, changes, deletes and reads schedules. */

import { changeLines, dueBeforeChange } from '../../../core/schedule/change-lines.ts';
import { beginLines, changeSchedule as decideChange, keysOf } from '../../../core/schedule/change-schedule.ts';
import type { NewSchedule, Schedule } from '../../../core/schedule/schedule.ts';
import { scheduleExists } from '../../refusals.ts';
import { decodeLineState, type LineColumns, specOfSchedule } from '../../schedule-columns.ts';
import { type ChangeRequest, nothingJudged, type ScheduleStep } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { checkDefinition } from '../graph/definitions.ts';
import { judge } from './judge.ts';
import { scheduleNamed } from './rows.ts';

export function createSchedule(context: Context, schedule: NewSchedule): Schedule {
  const { database, now, effects } = context;
  const { name, owner } = schedule;
  const begin = beginLines(schedule, now);
  checkDefinition(context, schedule);
  const made = database.run(sql.insertSchedule, name, owner, JSON.stringify(specOfSchedule(schedule)), now);
  if (made === 0) throw scheduleExists(name);
  const { id } = scheduleNamed(context, name) as Schedule;
  for (const key of keysOf(schedule)) database.run(sql.insertLines, id, key, begin.cursor, begin.nextDue);
  effects.changedSchedule();
  return scheduleNamed(context, name) as Schedule;
}

export function changeSchedule(context: Context, name: string, request: ChangeRequest): ScheduleStep | undefined {
  const { database, now, effects } = context;
  const before = scheduleNamed(context, name);
  if (before === undefined) return undefined;
  const { change, at: asked, ...pieces } = request;
  const at = asked ?? now;
  if (change.type === 'edit') checkDefinition(context, change.edit);
  const changed = decideChange(before, change, at);
  const lines = database.all<LineColumns>(sql.linesOf, before.id).map(decodeLineState);
  const due = dueBeforeChange({ before, changed, lines, at }).slice(0, pieces.lines ?? pieces.limit);
  if (due.length > 0) {
    const judged = judge(
      context,
      due.map((line) => ({ schedule: before, line })),
      pieces,
      changed.closes,
    );
    return { ...judged, schedule: scheduleNamed(context, name) as Schedule, changed: false, at };
  }
  const { id, owner, updatedAt, pausedAt, pausedNote } = changed.schedule;
  const spec = JSON.stringify(specOfSchedule(changed.schedule));
  database.run(sql.updateSchedule, id, owner, spec, updatedAt, pausedAt, pausedNote);
  const { gone, moves, newKeys } = changeLines({ before, changed, lines, at });
  for (const line of gone) database.run(sql.deleteLines, line.id);
  for (const { id: line, cursor, nextDue, tail } of moves) {
    database.run(sql.moveLines, line, cursor, nextDue, tail?.tickId ?? null, tail?.verdict ?? null);
  }
  const { begin } = changed;
  if (begin !== null) for (const key of newKeys) database.run(sql.insertLines, id, key, begin.cursor, begin.nextDue);
  effects.changedSchedule();
  return { ...nothingJudged(now), schedule: scheduleNamed(context, name) as Schedule, changed: true, at };
}

export function deleteSchedule(context: Context, name: string): boolean {
  const found = scheduleNamed(context, name);
  if (found === undefined) return false;
  context.database.run(sql.deleteLinesOf, found.id);
  context.database.run(sql.deleteSchedule, found.id);
  return true;
}

export function schedule(context: Context, name: string): Schedule | undefined {
  return scheduleNamed(context, name);
}
