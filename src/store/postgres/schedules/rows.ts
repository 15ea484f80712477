/** Rows of schedules, and their lock. */

import type { Schedule, ScheduleSpec } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { decodeSchedule, type ScheduleColumns } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers, texts } from '../base/values.ts';

export interface ScheduleRow extends ScheduleColumns {
  spec: ScheduleSpec;
  next_due: number | null;
}

export function toSchedule(row: ScheduleRow): Schedule {
  return decodeSchedule(row, row.spec, row.next_due);
}

/** Locks a schedule: until the transaction ends, no other call judges, runs or changes it. */
export async function lockSchedule({ sql }: Context, session: Session, name: string): Promise<Schedule | undefined> {
  const [row] = await session.query<ScheduleRow>(sql.lockSchedule, [name]);
  return row === undefined ? undefined : toSchedule(row);
}

export async function readSchedule({ sql }: Context, session: Session, name: string): Promise<Schedule | undefined> {
  const [row] = await session.query<ScheduleRow>(sql.schedule, [name]);
  return row === undefined ? undefined : toSchedule(row);
}

interface NewLines {
  /** The schedule's id. */
  id: number;
  keys: readonly string[];
  cursor: number;
  nextDue: number;
}

export async function insertLines(
  { sql }: Context,
  session: Session,
  { id, keys, cursor, nextDue }: NewLines,
): Promise<void> {
  if (keys.length > 0) await session.query(sql.insertLines, [id, texts(keys), cursor, nextDue]);
}

export async function nowOf({ sql }: Context, session: Session): Promise<number> {
  const [row] = await session.query<{ now: number }>(sql.now);
  return row?.now as number;
}

/** The unfinished runs by line, oldest first. Must be read under the lock of their schedules. */
export async function openRuns({ sql }: Context, session: Session, lines: readonly number[]) {
  const open = new Map<number, Run[]>(lines.map((line) => [line, []]));
  type Row = { line: number; job_id: number | null; workflow_id: number | null };
  for (const { line, job_id, workflow_id } of await session.query<Row>(sql.openRuns, [numbers(lines)])) {
    open.get(line)?.push({ jobId: job_id, workflowId: workflow_id });
  }
  return open;
}
