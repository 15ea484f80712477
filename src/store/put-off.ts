/** What becomes of a due line that cannot be judged or written: it is tried again later, and nobody waits for it. */

import { isWorkronError } from '../core/error.ts';
import type { LineRequest } from '../core/schedule/plan-line.ts';
import { recurrenceOf } from '../core/schedule/recurrence-of.ts';

const SOONEST_MS = 5_000;
/** Less than the usual window of a catch-up, so that what is mended within the hour still runs. */
const LATEST_MS = 15 * 60_000;

/** As long again as its tick is late by now, within bounds: so every time is twice as long as the one before. */
export function putOffMs({ schedule, line, now }: Pick<LineRequest, 'schedule' | 'line' | 'now'>): number {
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, now - dueSince(schedule, line)));
}

function dueSince(schedule: LineRequest['schedule'], { cursor }: LineRequest['line']): number {
  try {
    return recurrenceOf(schedule).next(cursor) ?? cursor;
  } catch {
    // Its zone is known no longer, for instance.
    return cursor;
  }
}

/** Whether a write failed because of what was to be written, and not because the store is away or no longer ours. */
export function isOfTheRow(error: unknown): boolean {
  return !isWorkronError(error) || (!error.retryable && error.code !== 'leadership_lost');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
