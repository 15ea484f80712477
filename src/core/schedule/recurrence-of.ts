import { WorkronError } from '../error.ts';
import { parseCron } from './cron.ts';
import { parseEvery } from './every.ts';
import { boundedBy, type Recurrence, requireTicks } from './recurrence.ts';
import type { ScheduleSpec } from './schedule.ts';
import { zoneOf } from './zone.ts';

type Timing = Pick<ScheduleSpec, 'cron' | 'everyMs' | 'anchor' | 'timezone' | 'startAt' | 'endAt'>;

/** Returns when a schedule is due, within its bounds. Throws `schedule_invalid` if its timing cannot be read. */
export function recurrenceOf(timing: Timing): Recurrence {
  return boundedBy(unboundedOf(timing), timing);
}

/**
 * Returns the first tick after an instant. Throws `schedule_invalid` if there is none, or if the timing cannot be read or
 * shown: `every` needs no zone, but its ticks are shown in one.
 */
export function firstTick(timing: Timing, after: number): number {
  zoneOf(timing.timezone);
  return requireTicks(recurrenceOf(timing), after);
}

/** Returns the recurrence without its bounds, to find the interval before the first tick. */
export function unboundedOf({ cron, everyMs, anchor, timezone }: Timing): Recurrence {
  if (cron !== null && everyMs === null) return parsedCron(cron, timezone);
  if (everyMs !== null && cron === null) return parseEvery(everyMs, anchor);
  throw new WorkronError(
    'schedule_invalid',
    `expected exactly one of cron and every, got ${cron === null ? 'none' : 'both'}`,
  );
}

/** A cache of parsed expressions: thousands of schedules share few of them. */
const parsed = new Map<string, Recurrence>();
const MAX_PARSED = 10_000;

function parsedCron(expression: string, timezone: string): Recurrence {
  const name = `${timezone}\n${expression}`;
  let recurrence = parsed.get(name);
  if (recurrence === undefined) {
    recurrence = parseCron(expression, timezone);
    if (parsed.size >= MAX_PARSED) parsed.clear();
    parsed.set(name, recurrence);
  }
  return recurrence;
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
