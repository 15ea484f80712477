/** Parses cron expressions. */

import { WorkronError } from '../error.ts';
import { didYouMean } from '../suggest.ts';
import { DAY_MS } from './civil.ts';
import { parseMonthDays, parseWeekDays } from './cron-days.ts';
import { HOUR, isWildcard, MINUTE, MONTH, parseField, SECOND } from './cron-field.ts';
import { type ClockRule, CronRecurrence } from './cron-recurrence.ts';
import type { Recurrence } from './recurrence.ts';
import { timesOfDay } from './time-of-day.ts';
import { WallPattern } from './wall-pattern.ts';
import { zoneOf } from './zone.ts';

export const CRON_MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The calendar repeats after 400 years. */
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;

export interface CronFields {
  second: string;
  minute: string;
  hour: string;
  monthDay: string;
  month: string;
  weekDay: string;
}

/**
 * Returns the ticks of `expression` in the time zone. Throws `schedule_invalid` if the expression cannot be read, the
 * zone is unknown, or no calendar has the named days.
 */
export function parseCron(expression: string, timezone: string): Recurrence {
  const zone = zoneOf(timezone);
  const fields = splitCron(expression);
  const pattern = new WallPattern(
    {
      months: parseField(MONTH, fields.month).reduce((bits, month) => bits | (1 << month), 0),
      monthDays: parseMonthDays(fields.monthDay),
      weekDays: parseWeekDays(fields.weekDay),
    },
    timesOfDay(parseField(HOUR, fields.hour), parseField(MINUTE, fields.minute), parseField(SECOND, fields.second)),
  );
  if (pattern.first(0, CALENDAR_CYCLE_MS) === null) {
    throw new WorkronError(
      'schedule_invalid',
      `cron: "${expression.trim()}" never fires: expected a day of month that the named months have, got "${fields.monthDay}" in month "${fields.month}"`,
    );
  }
  return new CronRecurrence(pattern, zone, clockRuleOf(fields));
}

/** Returns the fields of a macro or an expression of 5 fields, or 6 with seconds first. */
export function splitCron(expression: string): CronFields {
  const text = expression.trim();
  const words = (text.startsWith('@') ? macro(text) : text).split(/\s+/);
  if (words.length !== 5 && words.length !== 6) {
    const got = text === '' ? 'none' : `${words.length} in ${JSON.stringify(text.slice(0, 64))}`;
    throw new WorkronError('schedule_invalid', `cron: expected 5 fields, or 6 with seconds first, got ${got}`);
  }
  const [second, minute, hour, monthDay, month, weekDay] = words.length === 6 ? words : ['0', ...words];
  return { second, minute, hour, monthDay, month, weekDay } as CronFields;
}

/** Whether the ticks follow the wall clock or real time when clocks change. */
export function clockRuleOf({ minute, hour }: CronFields): ClockRule {
  return isWildcard(minute) || isWildcard(hour) ? 'wildcard' : 'fixed';
}

function macro(text: string): string {
  const known = CRON_MACROS[text.toLowerCase()];
  if (known !== undefined) return known;
  const hint = didYouMean(text, Object.keys(CRON_MACROS));
  throw new WorkronError(
    'schedule_invalid',
    `cron: expected a macro (${Object.keys(CRON_MACROS).join(', ')}), got ${JSON.stringify(text.slice(0, 64))}${hint === undefined ? '' : `; ${hint}`}`,
  );
}
