/** Judges due lines of locked schedules: writes their verdicts and starts their runs. */

import { type Closes, countStarted, countVerdicts, planDue } from '../../../core/schedule/plan-due.ts';
import { type Line, missInstead } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Judged, TickRequest } from '../../schedule-store.ts';
import type { Context } from '../base/context.ts';
import type { Transaction } from '../graph/transaction.ts';
import { openRuns } from './rows.ts';
import { writePlans } from './write-ticks.ts';

export interface DueNow {
  schedule: Schedule;
  line: Line;
  now: number;
}

interface Judgement {
  request: TickRequest;
  closes?: Closes;
  /** The id of a line whose runs cannot be started: they are missed. */
  unable?: number;
}

export async function judge(
  context: Context,
  transaction: Transaction,
  lines: readonly DueNow[],
  { request, closes, unable }: Judgement,
): Promise<Omit<Judged, 'now'>> {
  const { session } = transaction;
  const now = lines[0]?.now as number;
  const open = await openRuns(
    context,
    session,
    lines.map(({ line }) => line.id),
  );
  const due = lines.map((one) => ({ ...one, open: open.get(one.line.id) ?? [] }));
  const planned = planDue(due, { ...request, now, ...(closes === undefined ? {} : { closes }) });
  const { failed } = planned;
  const plans = planned.plans.map(({ due: one, plan }) => ({
    due: one,
    plan: one.line.id === unable ? missInstead(plan) : plan,
  }));
  const ticks = await writePlans(
    context,
    transaction,
    plans.map(({ due: { schedule, open: runs }, plan }) => ({ schedule, open: runs, plan })),
  );
  for (const { due: one, retryInMs } of failed) {
    await session.query(context.sql.postponeLine, [one.line.id, one.line.cursor, retryInMs]);
  }
  return {
    ticks,
    counts: countVerdicts(plans),
    started: countStarted(plans),
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}
