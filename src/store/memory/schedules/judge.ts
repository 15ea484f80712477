/** Lines that are due: their verdicts, and what they start. */

import { isRowError } from '../../../core/error.ts';
import { type LinePlan, missInstead } from '../../../core/schedule/plan-line.ts';
import { type Closes, closesNone, countStarted, countVerdicts, planDue } from '../../plan-due.ts';
import { messageOf, postponeMs } from '../../postpone.ts';
import type { Judged, TickRequest } from '../../schedule-store.ts';
import type { Tables } from '../base/tables.ts';
import { type LineRow, type ScheduleRow, toTick } from './schedule-row.ts';
import { moveTo, openRuns, writePlan } from './write-ticks.ts';

export function judge(
  tables: Tables,
  lines: readonly LineRow[],
  request: TickRequest,
  closes: Closes = closesNone,
): Judged {
  const now = tables.clock.now();
  const due = lines.map((line) => ({
    line,
    schedule: tables.schedules.get(line.schedule) as ScheduleRow,
    open: openRuns(tables, line.id),
  }));
  const { plans, failed } = planDue(due, { ...request, now, closes });
  const written: typeof plans = [];
  const write = (one: (typeof due)[number], plan: LinePlan) => {
    const { schedule, line, open } = one;
    const rows = writePlan(tables, schedule, line, { plan, open });
    written.push({ due: one, plan });
    return rows.map((row) => ({ ...toTick(row), schedule: schedule.name }));
  };
  const ticks = plans.flatMap(({ due: one, plan }) => {
    try {
      return write(one, plan);
    } catch (error) {
      // What was written of others stays written: there is no way back here, so there is one way on for all.
      if (!isRowError(error)) throw error;
      const { schedule, line } = one;
      const isLast = closes(line.key);
      failed.push({
        due: one,
        error: messageOf(error),
        retryInMs: isLast ? null : postponeMs({ schedule, line, now }),
      });
      return isLast ? write(one, missInstead(plan)) : [];
    }
  });
  for (const { due: one, retryInMs } of failed) if (retryInMs !== null) moveTo(tables, one.line, now + retryInMs);
  return {
    ticks,
    counts: countVerdicts(written),
    started: countStarted(written),
    now,
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}
