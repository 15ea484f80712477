/** What becomes of a due line that cannot be judged or written: it is tried again later, and nobody waits for it. */

import { isWorkronError } from '../core/error.ts';
import { retryDelay } from '../core/retry-delay.ts';
import type { LineRequest } from '../core/schedule/plan-line.ts';
import { recurrenceOf } from '../core/schedule/recurrence-of.ts';

/** For how long. */
export function postponeMs({ schedule, line, now }: Pick<LineRequest, 'schedule' | 'line' | 'now'>): number {
  return retryDelay(now - dueSince(schedule, line));
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
