/** When a schedule is due: a series of instants, and its part between two bounds. */

import { WorkronError } from '../error.ts';

/** Ticks in ascending order. Pure: the same arguments give the same answer. */
export interface Recurrence {
  /** The first tick later than `after`; `null` if there is none within a hundred years. */
  next(after: number): number | null;
  /** The last tick earlier than `before`; `null` if there is none within a hundred years. */
  previous(before: number): number | null;
  /** The number of ticks in (`after`, `through`]. The cost does not grow with it. */
  count(after: number, through: number): number;
}

export interface Bounds {
  /** Ticks at or later than this. */
  startAt?: number | null;
  /** Ticks earlier than this. */
  endAt?: number | null;
}

/** The part of `recurrence` from `startAt` (included) to `endAt` (excluded). */
export function boundedBy(recurrence: Recurrence, { startAt, endAt }: Bounds): Recurrence {
  const start = startAt ?? Number.NEGATIVE_INFINITY;
  const end = endAt ?? Number.POSITIVE_INFINITY;
  return {
    next(after) {
      const tick = recurrence.next(Math.max(after, start - 1));
      return tick !== null && tick < end ? tick : null;
    },
    previous(before) {
      const tick = recurrence.previous(Math.min(before, end));
      return tick !== null && tick >= start ? tick : null;
    },
    count: (after, through) => recurrence.count(Math.max(after, start - 1), Math.min(through, end - 1)),
  };
}

/** Returns the first tick after `after`. Throws `schedule_invalid` if there is none: such a schedule would never run. */
export function requireTicks(recurrence: Recurrence, after: number): number {
  const tick = recurrence.next(after);
  if (tick !== null) return tick;
  throw new WorkronError(
    'schedule_invalid',
    `the schedule never fires: expected a tick after ${new Date(after).toISOString()}, got none`,
  );
}

/** Up to `limit` ticks in (`after`, `through`], the oldest of them, oldest first. */
export function oldestTicks(recurrence: Recurrence, after: number, through: number, limit: number): number[] {
  const ticks: number[] = [];
  let tick = recurrence.next(after);
  while (tick !== null && tick <= through && ticks.length < limit) {
    ticks.push(tick);
    tick = recurrence.next(tick);
  }
  return ticks;
}

/** Up to `limit` ticks in (`after`, `through`], the newest of them, oldest first. */
export function newestTicks(recurrence: Recurrence, after: number, through: number, limit: number): number[] {
  const ticks: number[] = [];
  let tick = recurrence.previous(through + 1);
  while (tick !== null && tick > after && ticks.length < limit) {
    ticks.push(tick);
    tick = recurrence.previous(tick);
  }
  return ticks.reverse();
}
