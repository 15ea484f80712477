/** What becomes of a due line that cannot be judged or written: it is tried again later, and nobody waits for it. */

import { retryDelay } from '../core/backoff.ts';
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

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
