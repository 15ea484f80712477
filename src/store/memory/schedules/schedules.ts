import { changeLines, dueBeforeChange } from '../../../core/schedule/change-lines.ts';
import { beginLines, changeSchedule as decideChange, keysOf } from '../../../core/schedule/change-schedule.ts';
import type { NewSchedule, Schedule } from '../../../core/schedule/schedule.ts';
import { scheduleExists } from '../../refusals.ts';
import { type ChangeRequest, nothingJudged, type ScheduleFilter, type ScheduleStep } from '../../schedule-store.ts';
import { copyJson } from '../base/copy.ts';
import type { Tables } from '../base/tables.ts';
import { checkDefinition } from '../graph/definitions.ts';
import { judge } from './judge.ts';
import { newScheduleRow, type ScheduleRow, toSchedule } from './rows.ts';
import { moveTo } from './write-ticks.ts';

export function createSchedule(tables: Tables, schedule: NewSchedule): Schedule {
  const now = tables.clock.now();
  const begin = beginLines(schedule, now);
  checkDefinition(tables, schedule);
  if (tables.schedules.has(schedule.name)) throw scheduleExists(schedule.name);
  const row = newScheduleRow(schedule, { id: (tables.lastId.schedule += 1), now });
  tables.schedules.set(row.name, row);
  for (const key of keysOf(row)) addLine(tables, row, key, begin);
  tables.changes.changedSchedule();
  return toSchedule(row);
}

export function changeSchedule(tables: Tables, name: string, request: ChangeRequest): ScheduleStep | undefined {
  const row = tables.schedules.get(name);
  if (row === undefined) return undefined;
  const now = tables.clock.now();
  const { change, at: asked, ...pieces } = request;
  const at = asked ?? now;
  if (change.type === 'edit') checkDefinition(tables, change.edit);
  const changed = decideChange<ScheduleRow>(row, copyJson(change), at);
  const about = { before: row, changed, lines: [...row.lines.values()], at };
  const due = dueBeforeChange(about).slice(0, pieces.lines ?? pieces.limit);
  if (due.length > 0) {
    const judged = judge(tables, due, pieces, changed.closes);
    return { ...judged, schedule: toSchedule(row), changed: false, at };
  }
  const {
    lastRun: _run,
    lastVerdict: _verdict,
    lastJobId: _job,
    lastWorkflowId: _workflow,
    ...fields
  } = changed.schedule;
  Object.assign(row, fields);
  const { gone, moves, newKeys } = changeLines(about);
  for (const line of gone) {
    row.lines.delete(line.key);
    tables.dueLines.delete(line);
  }
  for (const { line, cursor, nextDue, tail } of moves) {
    Object.assign(line, { cursor, tail });
    moveTo(tables, line, nextDue);
  }
  if (changed.begin !== null) for (const key of newKeys) addLine(tables, row, key, changed.begin);
  tables.changes.changedSchedule();
  return { ...nothingJudged(now), schedule: toSchedule(row), changed: true, at };
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
