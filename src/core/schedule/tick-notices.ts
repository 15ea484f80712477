/** The notices that a tick leaves, in addition to those of its run. */

import type { Notify } from '../notify.ts';
import type { PlannedTick } from './plan-line.ts';
import type { ScheduleSpec } from './schedule.ts';
import type { Run } from './tick.ts';

export interface TickNotice {
  kind: 'missed' | 'late';
  /** The earliest instant to handle it; `null`: now. */
  dueAt: number | null;
  jobId: number | null;
  workflowId: number | null;
  detail: Readonly<Record<string, unknown>>;
}

/** Returns all notify targets of a schedule: its own, those of its job or workflow, and the installation's. */
export function tickTargetsOf(
  { notify = [], target }: ScheduleSpec,
  installation: readonly Notify[],
): readonly Notify[] {
  const own = 'job' in target ? target.job.notify : (target.workflow.notify ?? []);
  return [...notify, ...own, ...installation];
}

/**
 * Returns a notice for ticks that will not run, or one for each instant at which the run would be late. Whether it is
 * late is checked then, so that a run that never starts is found, too.
 */
export function tickNotices({ targets = [], ...tick }: PlannedTick, { jobId, workflowId }: Run): TickNotice[] {
  if (tick.kind !== 'tick') return [];
  const { key, scheduledFor, through, count, verdict, run } = tick;
  const detail = { scheduled_for: instant(scheduledFor), ...(key === '' ? {} : { key }) };
  if (verdict === 'missed' || verdict === 'dropped') {
    if (!targets.some(({ on }) => on.includes('missed'))) return [];
    const span = { through: instant(through), count, verdict };
    return [{ kind: 'missed', dueAt: null, jobId: null, workflowId: null, detail: { ...detail, ...span } }];
  }
  if (run === null) return [];
  const patience = new Set(targets.filter(({ on }) => on.includes('late')).map(({ lateAfterMs }) => lateAfterMs));
  return [...patience].map((lateAfterMs) => ({
    kind: 'late',
    dueAt: (run.runAt ?? scheduledFor) + lateAfterMs,
    jobId,
    workflowId,
    detail: { ...detail, late_after: lateAfterMs },
  }));
}

/** How long missed ticks of one schedule are collected in one notice: after an outage every key may have some. */
export const GATHER_MS = 2_000;

interface MissedDetail {
  scheduled_for: string;
  through: string;
  count: number;
  verdict: string;
}

/** Merges missed ticks of one schedule that were not notified yet. */
export function mergeMissed(before: TickNotice['detail'], more: TickNotice['detail']): TickNotice['detail'] {
  const [a, b] = [before, more] as unknown as [MissedDetail, MissedDetail];
  return {
    scheduled_for: a.scheduled_for < b.scheduled_for ? a.scheduled_for : b.scheduled_for,
    through: a.through > b.through ? a.through : b.through,
    count: a.count + b.count,
    verdict: b.verdict,
  };
}

function instant(at: number): string {
  return new Date(at).toISOString();
}
