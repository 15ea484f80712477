/** `every`: a period of real time, independent of clock changes. */

import { formatDuration } from '../duration.ts';
import { WorkronError } from '../error.ts';
import type { Recurrence } from './recurrence.ts';

export const MIN_PERIOD_MS = 1_000;
export const MAX_PERIOD_MS = 3_650 * 86_400_000;

/** Ticks at `anchor` and every `periodMs` before and after it. */
export function parseEvery(periodMs: number, anchor = 0): Recurrence {
  if (!Number.isSafeInteger(periodMs) || periodMs < MIN_PERIOD_MS || periodMs > MAX_PERIOD_MS) {
    const got = Number.isSafeInteger(periodMs) && periodMs >= 0 ? formatDuration(periodMs) : String(periodMs);
    throw new WorkronError('schedule_invalid', `every: expected a duration from 1s to 3650d, got ${got}`);
  }
  if (!Number.isSafeInteger(anchor)) {
    throw new WorkronError('schedule_invalid', `anchor: expected an instant, got ${anchor}`);
  }
  /** The number of the last tick at or before `at`. */
  const numberAt = (at: number): number => Math.floor((at - anchor) / periodMs);
  return {
    next: (after) => anchor + (numberAt(after) + 1) * periodMs,
    previous: (before) => anchor + (Math.ceil((before - anchor) / periodMs) - 1) * periodMs,
    count: (after, through) => Math.max(0, numberAt(through) - numberAt(after)),
  };
}
