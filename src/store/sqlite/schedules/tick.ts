/** Ticks that are due: their verdicts, and what they start. */

import type { LinePlan, PlannedTick } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run, Tick } from '../../../core/schedule/tick.ts';
import { tickNotices } from '../../../core/schedule/tick-notices.ts';
import { countStarted, countVerdicts, planDue } from '../../plan-due.ts';
import { messageOf, putOffMs } from '../../put-off.ts';
import { decodeLine, type LineColumns, NO_RUN } from '../../schedule-columns.ts';
import type { Ticked, TickRequest } from '../../store.ts';
import type { Context } from '../context.ts';
import { addTickNotice } from '../notices.ts';
import { alone } from './alone.ts';
import { openRuns, type ScheduleRow, tickById, toSchedule } from './rows.ts';
import { start } from './start.ts';
import { sql } from './statements.ts';

export function tick(context: Context, request: TickRequest): Ticked {
  const { limit, lines = limit } = request;
  const { database, now } = context;
  const schedules = new Map<number, Schedule>();
  const due = database.all<LineColumns>(sql.dueLines, now, lines).map((row) => {
    const schedule = schedules.get(row.schedule_id) ?? scheduleById(context, row.schedule_id);
    schedules.set(row.schedule_id, schedule);
    return { schedule, line: decodeLine(row), open: openRuns(context, row.id) };
  });
  const { plans, failed } = planDue(due, { ...request, now });
  const write = (own: Context) =>
    plans.flatMap(({ due: { schedule, open }, plan }) =>
      writePlan(own, schedule, { plan, open }).map((row) => ({ ...row, schedule: schedule.name })),
    );
  const ticks =
    lines > 1
      ? write(context)
      : alone(context, write, (error) => {
          for (const { due: one } of plans.splice(0)) {
            failed.push({ due: one, error: messageOf(error), againInMs: putOffMs({ ...one, now }) });
          }
          return [];
        });
  for (const { due: one, againInMs } of failed) database.run(sql.postponeLine, one.line.id, now + againInMs);
  const nextDueAt = database.get<{ due: number | null }>(sql.nextDue)?.due ?? null;
  return {
    ticks,
    counts: countVerdicts(plans),
    started: countStarted(plans),
    nextDueAt,
    now,
    more: nextDueAt !== null && nextDueAt <= now,
    stop: database
      .all<{ id: number; stops: string }>(sql.stops)
      .map(({ id, stops }) => ({ tickId: id, runs: JSON.parse(stops) as Run[] })),
    contended: [],
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}

function scheduleById({ database }: Context, id: number): Schedule {
  return toSchedule(database.get<ScheduleRow>(sql.scheduleById, id) as ScheduleRow);
}

export function stoppedOthers({ database }: Context, tickIds: readonly number[]): void {
  database.run(sql.stopped, JSON.stringify(tickIds));
}

/** Writes what was decided about a line, and moves it on. */
export function writePlan(
  context: Context,
  schedule: Schedule,
  { plan, open }: { plan: LinePlan; open: readonly Run[] },
): Tick[] {
  const written = writeTicks(context, schedule, { ticks: plan.ticks, open });
  const { line, cursor, nextDue } = plan;
  const last = written.at(-1);
  const tail = last === undefined ? line.tail : { tickId: last.id, verdict: last.verdict };
  context.database.run(sql.moveLine, line.id, cursor, nextDue, tail?.tickId ?? null, tail?.verdict ?? null);
  return written;
}

/** Rows of one line, oldest first, with what they start. */
export function writeTicks(
  context: Context,
  schedule: Schedule,
  { ticks, open }: { ticks: readonly PlannedTick[]; open: readonly Run[] },
): Tick[] {
  let previous = NO_RUN;
  return ticks.map((planned) => {
    if (planned.run === null) return writeTick(context, schedule, planned, { run: NO_RUN, stops: null });
    const { place } = planned.run;
    const follows = place === 'follow_previous' ? [previous] : place === 'free' ? [] : open;
    previous = start(context, schedule, planned.run, follows);
    return writeTick(context, schedule, planned, { run: previous, stops: place === 'replace_open' ? open : null });
  });
}

function writeTick(
  context: Context,
  { id: scheduleId, name }: Schedule,
  planned: PlannedTick,
  { run: { jobId, workflowId }, stops }: { run: Run; stops: readonly Run[] | null },
): Tick {
  const { database, now } = context;
  for (const notice of tickNotices(planned, { jobId, workflowId })) addTickNotice(context, name, notice);
  const { addsTo, kind, key, scheduledFor, through, count, verdict, latenessMs } = planned;
  database.run(sql.noteLast, scheduleId, verdict, verdict === 'ran' ? scheduledFor : null, jobId, workflowId);
  if (addsTo !== null && database.run(sql.addToTick, addsTo, through, count, now) > 0) return tickById(context, addsTo);
  const columns = [scheduleId, kind, key, scheduledFor, through, count, verdict, jobId, workflowId, latenessMs, now];
  return tickById(context, database.insert(sql.insertTick, ...columns, stops === null ? null : JSON.stringify(stops)));
}
