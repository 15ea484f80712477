/** Decides which due ticks run, and why the others do not. */

import { newestTicks, type Recurrence } from './recurrence.ts';

export const CATCHUP_POLICIES = ['none', 'latest', 'all'] as const;
export type CatchupPolicy = (typeof CATCHUP_POLICIES)[number];

export interface Catchup {
  policy: CatchupPolicy;
  /** Ticks later than this are not caught up. Never less than `ON_TIME_MS`. */
  windowMs: number;
  /** With policy `all`: the maximum number of ticks to catch up, the newest first. */
  max: number;
}

export const DEFAULT_CATCHUP: Catchup = { policy: 'latest', windowMs: 3_600_000, max: 10 };
export const MAX_CAUGHT_UP = 1_000;

/**
 * A tick that starts at most this late is on time. It is longer than an instance needs to take over from a dead one,
 * and much shorter than a downtime. No catch-up policy or window applies to a tick on time.
 */
export const ON_TIME_MS = 10_000;

export interface PlanRequest {
  recurrence: Recurrence;
  /** The last tick that has a verdict, or the instant from which ticks count. Only later ticks are judged. */
  cursor: number;
  now: number;
  catchup: Catchup;
  /** When the schedule was paused. Earlier ticks are judged as usual. */
  pausedAt?: number | null;
}

export type Verdict =
  | { verdict: 'ran'; scheduledFor: number; latenessMs: number; catchup: boolean }
  | {
      verdict: 'missed' | 'dropped' | 'paused';
      /** The first and the last of `count` neighbouring ticks. */
      scheduledFor: number;
      through: number;
      count: number;
    };

export interface TickPlan {
  /** One verdict for every tick in (`cursor`, `now`], oldest first. */
  verdicts: Verdict[];
  /** The newest tick judged, from which the next one is computed; unchanged if none was due. */
  cursor: number;
}

/** Judges all due ticks. The cost grows with the number of runs, not with the number of ticks. */
export function planTicks({ recurrence, cursor, now, catchup, pausedAt = null }: PlanRequest): TickPlan {
  const through = pausedAt === null ? now : Math.min(now, Math.max(cursor, pausedAt - 1));
  const since = now - (catchup.policy === 'none' ? ON_TIME_MS : Math.max(catchup.windowMs, ON_TIME_MS));
  const running = newestTicks(
    recurrence,
    Math.max(cursor, since - 1),
    through,
    catchup.policy === 'all' ? catchup.max : 1,
  );
  const firstRunning = running[0] ?? through + 1;
  // With policy `none` there is no limit that could drop ticks: all that did not start on time are missed.
  const missedBefore = catchup.policy === 'none' ? firstRunning : Math.min(firstRunning, since);

  const plan: TickPlan = { verdicts: [], cursor };
  addRange(plan, 'missed', recurrence, Math.min(missedBefore - 1, through));
  addRange(plan, 'dropped', recurrence, Math.min(firstRunning - 1, through));
  for (const scheduledFor of running) {
    const latenessMs = now - scheduledFor;
    plan.verdicts.push({ verdict: 'ran', scheduledFor, latenessMs, catchup: latenessMs > ON_TIME_MS });
    plan.cursor = scheduledFor;
  }
  addRange(plan, 'paused', recurrence, now);
  return plan;
}

/** Gives the ticks after the plan's cursor up to `through` one verdict, and moves the cursor there. */
function addRange(plan: TickPlan, verdict: 'missed' | 'dropped' | 'paused', ticks: Recurrence, through: number): void {
  const count = ticks.count(plan.cursor, through);
  if (count === 0) return;
  const scheduledFor = ticks.next(plan.cursor) as number;
  const last = ticks.previous(through + 1) as number;
  plan.verdicts.push({ verdict, scheduledFor, through: last, count });
  plan.cursor = last;
}
