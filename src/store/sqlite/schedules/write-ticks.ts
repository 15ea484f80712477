/** Writes the plans of lines: rows of the ledger, the runs they start, and the lines' cursors. */

import { afterTick, type LastRun } from '../../../core/schedule/last-run.ts';
import type { LinePlan, PlannedTick } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Run, Tick } from '../../../core/schedule/tick.ts';
import { tickNotices } from '../../../core/schedule/tick-notices.ts';
import { NO_RUN } from '../../schedule-columns.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { addTickNotice } from '../cluster/notices.ts';
import { tickById } from './rows.ts';
import { start } from './start-runs.ts';

/** Writes the plan of a line and advances the line. */
export function writePlan(
  context: Context,
  schedule: Schedule,
  { plan, open }: { plan: LinePlan; open: readonly Run[] },
): Tick[] {
  const written = writeTicks(context, schedule, { ticks: plan.ticks, open });
  const { line, cursor, nextDue } = plan;
  const last = written.at(-1);
  const tail = last === undefined ? line.tail : { tickId: last.id, verdict: last.verdict };
  context.database.run(sql.moveLines, line.id, cursor, nextDue, tail?.tickId ?? null, tail?.verdict ?? null);
  return written;
}

/** Writes rows of one line, oldest first, and starts their runs. */
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

function noteLast({ database }: Context, scheduleId: number, planned: PlannedTick, run: Run): void {
  const before = database.get<LastRun>(sql.lastRunOf, scheduleId) as LastRun;
  const { lastRun, lastVerdict, lastJobId, lastWorkflowId } = afterTick(before, planned, run);
  database.run(sql.noteLast, scheduleId, lastRun, lastVerdict, lastJobId, lastWorkflowId);
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
  noteLast(context, scheduleId, planned, { jobId, workflowId });
  if (addsTo !== null && database.run(sql.addToTicks, addsTo, through, count, now) > 0)
    return tickById(context, addsTo);
  const columns = [scheduleId, kind, key, scheduledFor, through, count, verdict, jobId, workflowId, latenessMs, now];
  return tickById(context, database.insert(sql.insertTicks, ...columns, stops === null ? null : JSON.stringify(stops)));
}
