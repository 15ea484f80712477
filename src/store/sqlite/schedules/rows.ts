/** Rows of schedules, as the threads read them. */

import type { Schedule, ScheduleSpec } from '../../../core/schedule/schedule.ts';
import type { Run, Tick } from '../../../core/schedule/tick.ts';
import { decodeSchedule, decodeTick, type ScheduleColumns, type TickColumns } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export interface ScheduleRow extends ScheduleColumns {
  /** JSON. */
  spec: string;
  next_due?: number | null;
}

export function toSchedule(row: ScheduleRow): Schedule {
  return decodeSchedule(row, JSON.parse(row.spec) as ScheduleSpec, row.next_due ?? null);
}

export function scheduleNamed({ database }: Context, name: string): Schedule | undefined {
  const row = database.get<ScheduleRow>(sql.schedule, name);
  return row === undefined ? undefined : toSchedule(row);
}

/** The unfinished runs of a line, oldest first. */
export function openRuns({ database }: Context, line: number): Run[] {
  type Row = { job_id: number | null; workflow_id: number | null };
  return database.all<Row>(sql.openRuns, line).map((row) => ({ jobId: row.job_id, workflowId: row.workflow_id }));
}

export function tickById({ database }: Context, id: number): Tick {
  return decodeTick(database.get<TickColumns>(sql.tick, id) as TickColumns);
}
