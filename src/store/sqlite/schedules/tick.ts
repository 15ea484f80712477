/** Judges due ticks. */

import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run } from '../../../core/schedule/tick.ts';
import { decodeLine, type LineColumns } from '../../schedule-columns.ts';
import type { Ticked, TickRequest } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { judge } from './judge.ts';
import { type ScheduleRow, toSchedule } from './rows.ts';

export function tick(context: Context, request: TickRequest): Ticked {
  const { limit, lines = limit } = request;
  const { database, now } = context;
  const schedules = new Map<number, Schedule>();
  const due = database.all<LineColumns>(sql.dueLines, now, lines).map((row) => {
    const schedule = schedules.get(row.schedule_id) ?? scheduleById(context, row.schedule_id);
    schedules.set(row.schedule_id, schedule);
    return { schedule, line: decodeLine(row) };
  });
  const judged = judge(context, due, request);
  const nextDueAt = database.get<{ due: number | null }>(sql.lookDue)?.due ?? null;
  return {
    ...judged,
    nextDueAt,
    more: nextDueAt !== null && nextDueAt <= now,
    stop: database
      .all<{ id: number; stops: string }>(sql.stops)
      .map(({ id, stops }) => ({ tickId: id, runs: JSON.parse(stops) as Run[] })),
    contended: [],
  };
}

function scheduleById({ database }: Context, id: number): Schedule {
  return toSchedule(database.get<ScheduleRow>(sql.scheduleById, id) as ScheduleRow);
}

export function stoppedOthers({ database }: Context, tickIds: readonly number[]): void {
  database.run(sql.stopped, JSON.stringify(tickIds));
}
