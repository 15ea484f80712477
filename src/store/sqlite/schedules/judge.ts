/** Judges due lines: writes their verdicts and starts their runs. */

import { isRowError, messageOf } from '../../../core/error.ts';
import {
  type Closes,
  closesNone,
  countStarted,
  countVerdicts,
  planDue,
  postponeMs,
} from '../../../core/schedule/plan-due.ts';
import { type Line, type LinePlan, missInstead } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Judged, TickRequest } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { toStoreError } from '../base/store-error.ts';
import { GraphUpdate } from '../graph/graph-update.ts';
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

/** Runs `write`. If it fails because of what it writes, rolls back that part of the call and returns what `instead` returns. */
function alone<T>(context: Context, write: (own: Context) => T, instead: (error: unknown) => T): T {
  const { database, lanes, fairQueues } = context;
  database.run('savepoint alone');
  try {
    const own = { ...context, graphUpdate: new GraphUpdate() };
    const answer = write(own);
    own.graphUpdate.write(own);
    database.run('release alone');
    return answer;
  } catch (error) {
    // A full disk may have ended the whole transaction.
    if (!database.inTransaction || !isRowError(toStoreError(error, ''))) throw error;
    database.run('rollback to alone');
    database.run('release alone');
    lanes.forget();
    fairQueues.forget();
    return instead(error);
  }
}
