/** How a schedule begins, and what edit, pause and resume change. Decides; does not write. */

import { WorkronError } from '../error.ts';
import { editJob } from './edit-job.ts';
import { MAX_CAUGHT_UP } from './plan-ticks.ts';
import { firstTick, sameTiming } from './recurrence-of.ts';
import { MAX_KEYS, type Schedule, type ScheduleChange, type ScheduleSpec } from './schedule.ts';

/** Where a new line begins: its ticks count from now. Throws `schedule_invalid` if there are none. */
export function beginLines(spec: ScheduleSpec, now: number): { cursor: number; nextDue: number } {
  checkSpec(spec);
  return { cursor: now, nextDue: firstTick(spec, now) };
}

/** Throws `schedule_invalid` for values that no schedule may have. */
function checkSpec({ startAt, endAt, forEach, catchup, jitterMs }: ScheduleSpec): void {
  if (startAt !== null && endAt !== null && startAt >= endAt) {
    throw new WorkronError(
      'schedule_invalid',
      `end_at: expected an instant after start_at (${new Date(startAt).toISOString()}), got ${new Date(endAt).toISOString()}`,
    );
  }
  if (forEach !== null && (forEach.length === 0 || forEach.length > MAX_KEYS)) {
    throw new WorkronError('schedule_invalid', `for_each: expected 1 to ${MAX_KEYS} keys, got ${forEach.length}`);
  }
  if (forEach !== null && new Set(forEach).size < forEach.length) {
    throw new WorkronError('schedule_invalid', 'for_each: expected each key once');
  }
  if (!Number.isInteger(catchup.max) || catchup.max < 1 || catchup.max > MAX_CAUGHT_UP) {
    throw new WorkronError('schedule_invalid', `catchup.max: expected 1 to ${MAX_CAUGHT_UP}, got ${catchup.max}`);
  }
  if (!(catchup.windowMs >= 0) || !(jitterMs >= 0)) {
    throw new WorkronError('schedule_invalid', 'catchup.window, jitter: expected durations of 0 or more');
  }
}

/** The keys of the schedule's lines. */
export function keysOf({ forEach }: Pick<ScheduleSpec, 'forEach'>): readonly string[] {
  return forEach ?? [''];
}

export interface Changed<S> {
  schedule: S;
  /** Where new lines begin; `null`: the change makes none. */
  begin: { cursor: number; nextDue: number } | null;
  /** True if existing lines begin again, too. */
  restart: boolean;
  /** True if due ticks of this key need their verdict before the change, because it takes them from their line. */
  closes: (key: string) => boolean;
}

type Changeable = ScheduleSpec & Pick<Schedule, 'owner' | 'pausedAt' | 'pausedNote' | 'updatedAt'>;

/** Changes a schedule whose due ticks were judged before. */
export function changeSchedule<S extends Changeable>(before: S, change: ScheduleChange, now: number): Changed<S> {
  switch (change.type) {
    case 'pause': {
      const paused = { pausedAt: before.pausedAt ?? now, pausedNote: change.note, updatedAt: now };
      return { schedule: { ...before, ...paused }, begin: null, restart: false, closes: () => false };
    }
    case 'resume':
      return {
        schedule: { ...before, pausedAt: null, pausedNote: null, updatedAt: now },
        begin: null,
        restart: false,
        closes: () => before.pausedAt !== null,
      };
    case 'edit': {
      const { job, ...fields } = change.edit;
      const target = job === undefined ? fields.target : editJob(before.target, job);
      // Another target no longer comes from the definition that the last one was made from.
      const changed = target === undefined ? {} : { target, uses: fields.uses ?? null };
      const schedule = { ...before, ...fields, ...changed, updatedAt: now };
      checkSpec(schedule);
      const restart = !sameTiming(before, schedule);
      const known = new Set(keysOf(before));
      const keys = new Set(keysOf(schedule));
      const isNew = restart || [...keys].some((key) => !known.has(key));
      const begin = isNew ? beginLines(schedule, now) : null;
      return { schedule, begin, restart, closes: (key) => restart || !keys.has(key) };
    }
  }
}
