import { WorkronError } from '../error.ts';
import { parseCron } from './cron.ts';
import { parseEvery } from './every.ts';
import { boundedBy, type Recurrence } from './recurrence.ts';
import type { ScheduleSpec } from './schedule.ts';

export type Timing = Pick<ScheduleSpec, 'cron' | 'everyMs' | 'anchor' | 'timezone' | 'startAt' | 'endAt'>;

/** When a schedule is due, within its bounds. Throws `schedule_invalid` for what cannot be read. */
export function recurrenceOf(timing: Timing): Recurrence {
  return boundedBy(unboundedOf(timing), timing);
}

/** The same without its bounds: for what came before the first tick. */
export function unboundedOf({ cron, everyMs, anchor, timezone }: Timing): Recurrence {
  if (cron !== null) return parseCron(cron, timezone);
  if (everyMs !== null) return parseEvery(everyMs, anchor);
  throw new WorkronError('schedule_invalid', 'expected exactly one of cron and every, came none');
}

export function sameTiming(a: Timing, b: Timing): boolean {
  return (
    a.cron === b.cron &&
    a.everyMs === b.everyMs &&
    a.anchor === b.anchor &&
    a.timezone === b.timezone &&
    a.startAt === b.startAt &&
    a.endAt === b.endAt
  );
}
