/** Lines that are due: their verdicts, and what they start. */

import { type Line, type LinePlan, missInstead } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import { type Closes, closesNone, countStarted, countVerdicts, planDue } from '../../plan-due.ts';
import { messageOf, postponeMs } from '../../postpone.ts';
import type { Judged, TickRequest } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { alone } from './alone.ts';
import { openRuns } from './rows.ts';
import { writePlan } from './write-ticks.ts';

export function judge(
  context: Context,
  lines: readonly { schedule: Schedule; line: Line }[],
  request: TickRequest,
  closes: Closes = closesNone,
): Judged {
  const { database, now } = context;
  const due = lines.map((one) => ({ ...one, open: openRuns(context, one.line.id) }));
  const planned = planDue(due, { ...request, now, closes });
  const { failed } = planned;
  let { plans } = planned;
  const write = (own: Context) =>
    plans.flatMap(({ due: { schedule, open }, plan }) =>
      writePlan(own, schedule, { plan, open }).map((row) => ({ ...row, schedule: schedule.name })),
    );
  const ticks =
    (request.lines ?? request.limit) > 1
      ? write(context)
      : alone(context, write, (error) => {
          const last: { due: (typeof due)[number]; plan: LinePlan }[] = [];
          for (const { due: one, plan } of plans) {
            const isLast = closes(one.line.key);
            failed.push({ due: one, error: messageOf(error), retryInMs: isLast ? null : postponeMs({ ...one, now }) });
            if (isLast) last.push({ due: one, plan: missInstead(plan) });
          }
          plans = last;
          return write(context);
        });
  for (const { due: one, retryInMs } of failed) {
    if (retryInMs !== null) database.run(sql.postponeLine, one.line.id, now + retryInMs);
  }
  return {
    ticks,
    counts: countVerdicts(plans),
    started: countStarted(plans),
    now,
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}
