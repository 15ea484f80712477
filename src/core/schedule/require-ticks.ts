import { WorkronError } from '../error.ts';
import type { Recurrence } from './recurrence.ts';

/** The first tick after `after`. Throws `schedule_invalid` where there is none: such a schedule would wait for ever. */
export function requireTicks(recurrence: Recurrence, after: number): number {
  const tick = recurrence.next(after);
  if (tick !== null) return tick;
  throw new WorkronError(
    'schedule_invalid',
    `the schedule never fires: expected a tick after ${new Date(after).toISOString()}, got none`,
  );
}
