/** Decides about the lines that are due, as many as one transaction may write. */

import { type Line, type LinePlan, type LineRequest, planLine } from '../core/schedule/plan-line.ts';
import type { Run, TickVerdict } from '../core/schedule/tick.ts';
import { messageOf, postponeMs } from './postpone.ts';
import type { Judged, TickRequest } from './schedule-store.ts';

export interface DueLine {
  schedule: LineRequest['schedule'];
  line: Line;
  /** Its runs that have not ended. */
  open: readonly Run[];
}

export interface DuePlans<D> {
  plans: { due: D; plan: LinePlan }[];
  failed: { due: D; error: string; retryInMs: number | null }[];
}

/** Whether the ticks of a key must have their verdict now, and there is no later; as a change of its schedule says. */
export type Closes = (key: string) => boolean;
export const closesNone: Closes = () => false;

/** In order, until the ledger would get more than `limit` rows; the first one is always among them. */
export function planDue<D extends DueLine>(
  due: readonly D[],
  { now, limit, notify = [], closes = closesNone }: { now: number; closes?: Closes } & TickRequest,
): DuePlans<D> {
  const plans: DuePlans<D>['plans'] = [];
  const failed: DuePlans<D>['failed'] = [];
  let rows = 0;
  for (const one of due) {
    const { schedule, line, open } = one;
    try {
      const plan = planLine({ schedule, line, open: open.length, now, notify }, limit);
      if (rows > 0 && rows + plan.ticks.length > limit) break;
      rows += plan.ticks.length;
      plans.push({ due: one, plan });
    } catch (error) {
      if (closes(line.key)) throw error;
      failed.push({ due: one, error: messageOf(error), retryInMs: postponeMs({ schedule, line, now }) });
    }
  }
  return { plans, failed };
}

export function nothingJudged(now: number): Judged {
  return { ticks: [], counts: {}, started: {}, now, failed: [] };
}

/** How many ticks these plans judge, by verdict. */
export function countVerdicts(plans: readonly { plan: LinePlan }[]): Partial<Record<TickVerdict, number>> {
  const counts: Partial<Record<TickVerdict, number>> = {};
  for (const { plan } of plans) {
    for (const { verdict, count } of plan.ticks) counts[verdict] = (counts[verdict] ?? 0) + count;
  }
  return counts;
}

/** How many jobs these plans start, by queue. */
export function countStarted(plans: readonly { due: DueLine; plan: LinePlan }[]): Record<string, number> {
  const started: Record<string, number> = {};
  for (const { due, plan } of plans) {
    const { target } = due.schedule;
    if (!('job' in target)) continue;
    const { queue } = target.job;
    const count = plan.ticks.filter(({ run }) => run !== null).length;
    if (count > 0) started[queue] = (started[queue] ?? 0) + count;
  }
  return started;
}
