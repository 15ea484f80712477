/** Judges the lines that are due, as many as one transaction may write. */

import { retryDelay } from '../backoff.ts';
import { messageOf } from '../error.ts';
import type { Notify } from '../notify.ts';
import { type Line, type LinePlan, type LineRequest, planLine } from './plan-line.ts';
import { recurrenceOf } from './recurrence-of.ts';
import type { Target } from './schedule.ts';
import type { Run, TickVerdict } from './tick.ts';

interface DueLine {
  schedule: LineRequest['schedule'];
  line: Line;
  /** Its runs that have not ended. */
  open: readonly Run[];
}

interface DuePlans<D> {
  plans: { due: D; plan: LinePlan }[];
  failed: { due: D; error: string; retryInMs: number | null }[];
}

/** True if the ticks of a key must get their verdict now, because a change of the schedule leaves no later time for it. */
export type Closes = (key: string) => boolean;
const closesNone: Closes = () => false;

interface DueRequest {
  now: number;
  /** Rows of the ledger. */
  limit: number;
  /** Targets that are notified of every schedule. */
  notify?: readonly Notify[];
  closes?: Closes;
}

/** Plans lines in order, until the ledger would get more than `limit` rows; the first one is always planned. */
export function planDue<D extends DueLine>(
  due: readonly D[],
  { now, limit, notify = [], closes = closesNone }: DueRequest,
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

/** How long a line that cannot be judged or written is postponed, so that no other line waits for it. */
export function postponeMs({ schedule, line, now }: Pick<LineRequest, 'schedule' | 'line' | 'now'>): number {
  return retryDelay(now - dueSince(schedule, line));
}

function dueSince(schedule: LineRequest['schedule'], { cursor }: LineRequest['line']): number {
  try {
    return recurrenceOf(schedule).next(cursor) ?? cursor;
  } catch {
    // For instance, its time zone is no longer known.
    return cursor;
  }
}

/** The number of ticks that these plans judge, by verdict. */
export function countVerdicts(plans: readonly { plan: LinePlan }[]): Partial<Record<TickVerdict, number>> {
  const counts: Partial<Record<TickVerdict, number>> = {};
  for (const { plan } of plans) {
    for (const { verdict, count } of plan.ticks) counts[verdict] = (counts[verdict] ?? 0) + count;
  }
  return counts;
}

/** The number of jobs that these plans start, by queue. */
export function countStarted(plans: readonly { due: DueLine; plan: LinePlan }[]): Record<string, number> {
  const started: Record<string, number> = {};
  for (const { due, plan } of plans) {
    const count = plan.ticks.filter(({ run }) => run !== null).length;
    if (count > 0) addRuns(started, due.schedule.target, count);
  }
  return started;
}

/** Adds the jobs of `runs` runs of this target, by queue. */
export function addRuns(started: Record<string, number>, target: Target, runs: number): void {
  const jobs = 'job' in target ? [target.job] : target.workflow.steps.map(({ job }) => job);
  for (const { queue } of jobs) started[queue] = (started[queue] ?? 0) + runs;
}
