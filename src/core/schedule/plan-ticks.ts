/** What becomes of the ticks that are due: which run, and why the others do not. */

import { newestTicks, type Recurrence } from './recurrence.ts';

export const CATCHUP_POLICIES = ['none', 'latest', 'all'] as const;
export type CatchupPolicy = (typeof CATCHUP_POLICIES)[number];

export interface Catchup {
  policy: CatchupPolicy;
  /** Ticks later than this are not caught up. Never less than `ON_TIME_MS`. */
  windowMs: number;
  /** With `all`: so many at most, the newest. */
  max: number;
}

export const DEFAULT_CATCHUP: Catchup = { policy: 'latest', windowMs: 3_600_000, max: 10 };
export const MAX_CAUGHT_UP = 1_000;

/**
 * A tick that starts so little late is on time: longer than another instance needs to take over from a dead or frozen
 * one, far shorter than what people call downtime. Being on time is no catch-up, so no policy or window forbids it.
 */
export const ON_TIME_MS = 10_000;

export interface PlanRequest {
  recurrence: Recurrence;
  /** The last tick that has a verdict, or the instant from which ticks count; those up to it are not looked at. */
  cursor: number;
  now: number;
  catchup: Catchup;
  /** Since when the schedule is paused. Ticks before that are judged as ever. */
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
  /** The newest tick judged, from which the next one is computed; unchanged where none was due. */
  cursor: number;
}

/** Judges all ticks that are due. The work does not grow with their number, only with how many run. */
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
  // With `none` nothing was there to be cut off: all that did not start on time was missed.
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

/** Gives the ticks after the plan's cursor up to `through` one verdict, and moves the cursor over them. */
function addRange(plan: TickPlan, verdict: 'missed' | 'dropped' | 'paused', ticks: Recurrence, through: number): void {
  const count = ticks.count(plan.cursor, through);
  if (count === 0) return;
  const scheduledFor = ticks.next(plan.cursor) as number;
  const last = ticks.previous(through + 1) as number;
  plan.verdicts.push({ verdict, scheduledFor, through: last, count });
  plan.cursor = last;
}
