/** Judges due lines of locked schedules: writes their verdicts and starts their runs. */

import { type Closes, countStarted, countVerdicts, planDue } from '../../../core/schedule/plan-due.ts';
import { type Line, missInstead } from '../../../core/schedule/plan-line.ts';
import type { Schedule } from '../../../core/schedule/schedule.ts';
import type { Judged, TickRequest } from '../../schedule-store.ts';
import { after, at, sql, now as storeTime } from '../../sql/sql.ts';
import type { Tx } from '../../sql/tx.ts';
import { openRuns } from './rows.ts';
import { writePlans } from './write-ticks.ts';

export interface DueLine {
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
  tx: Tx,
  lines: readonly DueLine[],
  { request, closes, unable }: Judgement,
): Promise<Omit<Judged, 'now'>> {
  const now = lines[0]?.now as number;
  const open = await openRuns(
    tx,
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
    tx,
    plans.map(({ due: { schedule, open: runs }, plan }) => ({ schedule, open: runs, plan })),
  );
  for (const { due: one, retryInMs } of failed) if (retryInMs !== null) await postponeLine(tx, one.line, retryInMs);
  return {
    ticks,
    counts: countVerdicts(plans),
    started: countStarted(plans),
    failed: failed.map(({ due: one, ...rest }) => ({ schedule: one.schedule.name, ...rest })),
  };
}

/** Does nothing if another call has judged the line meanwhile. */
export async function postponeLine(tx: Tx, { id, cursor }: Line, forMs: number): Promise<void> {
  await tx.run(sql`update schedule_line set next_due = ${after(storeTime, forMs)}
    where id = ${id} and cursor = ${at(cursor)}`);
}
