import { beginLines, changeSchedule as decideChange, keysOf } from '../../core/schedule/change-schedule.ts';
import { planLine } from '../../core/schedule/plan-line.ts';
import type { NewSchedule, Schedule, ScheduleChange } from '../../core/schedule/schedule.ts';
import { scheduleExists } from '../refusals.ts';
import type { ScheduleFilter } from '../store.ts';
import { copyJson } from './copy.ts';
import { newScheduleRow, type ScheduleRow, toSchedule } from './schedule-row.ts';
import type { Tables } from './tables.ts';
import { openRuns, writePlan } from './tick.ts';

export function createSchedule(tables: Tables, schedule: NewSchedule): Schedule {
  const now = tables.clock.now();
  const begin = beginLines(schedule, now);
  if (tables.schedules.has(schedule.name)) throw scheduleExists(schedule.name);
  const row = newScheduleRow(schedule, { id: (tables.lastId.schedule += 1), now });
  tables.schedules.set(row.name, row);
  for (const key of keysOf(row)) addLine(tables, row, key, begin);
  tables.hints.schedule();
  return toSchedule(row);
}

export function changeSchedule(tables: Tables, name: string, change: ScheduleChange): Schedule | undefined {
  const row = tables.schedules.get(name);
  if (row === undefined) return undefined;
  const now = tables.clock.now();
  const { schedule, begin, restart } = decideChange<ScheduleRow>(row, copyJson(change), now);
  judgeAll(tables, row, now);
  const { lastRun: _run, lastVerdict: _verdict, lastJobId: _job, lastWorkflowId: _workflow, ...fields } = schedule;
  Object.assign(row, fields);
  const keys = new Set(keysOf(row));
  for (const [key, line] of row.lines) {
    if (!keys.has(key)) row.lines.delete(key);
    else if (!restart || begin === null) continue;
    tables.dueLines.delete(line);
    if (!keys.has(key)) continue;
    Object.assign(line, begin, { tail: null });
    tables.dueLines.add(line);
  }
  for (const key of keys) if (!row.lines.has(key) && begin !== null) addLine(tables, row, key, begin);
  tables.hints.schedule();
  return toSchedule(row);
}

/** What is due by what the schedule is now. */
function judgeAll(tables: Tables, row: ScheduleRow, now: number): void {
  for (const line of row.lines.values()) {
    while (line.nextDue !== null && line.nextDue <= now) {
      const open = openRuns(tables, line.id);
      writePlan(tables, row, line, { plan: planLine({ schedule: row, line, open: open.length, now }, Infinity), open });
    }
  }
}

export function deleteSchedule(tables: Tables, name: string): boolean {
  const row = tables.schedules.get(name);
  if (row === undefined) return false;
  for (const line of row.lines.values()) tables.dueLines.delete(line);
  tables.schedules.delete(name);
  return true;
}

export function schedule(tables: Tables, name: string): Schedule | undefined {
  const row = tables.schedules.get(name);
  return row === undefined ? undefined : toSchedule(row);
}

export function schedules(
  tables: Tables,
  { owner, text }: ScheduleFilter,
  { after, limit }: { after: string | null; limit: number },
): Schedule[] {
  return [...tables.schedules.values()]
    .filter((row) => after === null || row.name > after)
    .filter((row) => (owner === undefined || row.owner === owner) && (text === undefined || row.name.includes(text)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(toSchedule);
}

function addLine(
  tables: Tables,
  row: ScheduleRow,
  key: string,
  { cursor, nextDue }: { cursor: number; nextDue: number },
): void {
  const line = { id: (tables.lastId.line += 1), schedule: row.name, key, cursor, nextDue, tail: null };
  row.lines.set(key, line);
  tables.dueLines.add(line);
}
