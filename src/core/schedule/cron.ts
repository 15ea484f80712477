/** Parses cron expressions. */

import { WorkronError } from '../error.ts';
import { didYouMean } from '../suggest.ts';
import { DAY_MS } from './civil.ts';
import {
  cronError,
  HOUR,
  isOpen,
  isWildcard,
  itemsOf,
  MINUTE,
  MONTH,
  MONTH_DAY,
  parseField,
  parseItem,
  parseValue,
  SECOND,
  WEEK_DAY,
} from './cron-field.ts';
import { type ClockRule, CronRecurrence } from './cron-recurrence.ts';
import { type CronPart, CronUnion } from './cron-union.ts';
import type { MonthDays, WeekDays } from './day-rule.ts';
import type { Recurrence } from './recurrence.ts';
import { timesOfDay } from './time-of-day.ts';
import { WallPattern } from './wall-pattern.ts';
import { zoneOf } from './zone.ts';

const CRON_MACROS: Readonly<Record<string, string>> = {
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

interface CronFields {
  second: string;
  minute: string;
  hour: string;
  monthDay: string;
  month: string;
  weekDay: string;
}

/** Separates several expressions in one text. A schedule is due whenever one of them is. */
export const CRON_SEPARATOR = ';';
/** The maximum number of expressions in one text. */
const MAX_EXPRESSIONS = 16;

/**
 * Returns the ticks of `expression` in the time zone. Throws `schedule_invalid` if the expression cannot be read, the
 * zone is unknown, or no calendar has the named days.
 */
export function parseCron(expression: string, timezone: string): Recurrence {
  const zone = zoneOf(timezone);
  const parts = expressionsIn(expression).map(parseOne);
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return new CronRecurrence(first.pattern, zone, first.rule);
  return new CronUnion(parts, zone);
}

/** Returns the expressions of a text, at least one. */
export function expressionsIn(text: string): string[] {
  const expressions = text.split(CRON_SEPARATOR);
  if (expressions.length <= MAX_EXPRESSIONS) return expressions;
  throw new WorkronError(
    'schedule_invalid',
    `cron: expected at most ${MAX_EXPRESSIONS} expressions, got ${expressions.length}`,
  );
}

function parseOne(expression: string): CronPart {
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
  return { pattern, rule: clockRuleOf(fields) };
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

/** Parses the day of month, with L and W. Returns `null` if the field allows every day. */
function parseMonthDays(text: string): MonthDays | null {
  if (isOpen(text)) return null;
  const nearest: number[] = [];
  const named = { days: 0, last: false, lastWorking: false };
  for (const item of itemsOf(MONTH_DAY, text)) {
    const upper = item.toUpperCase();
    if (upper === 'L') named.last = true;
    else if (upper === 'LW') named.lastWorking = true;
    else if (/^\d+W$/.test(upper)) nearest.push(parseValue(MONTH_DAY, upper.slice(0, -1)));
    else if (/[LW]/.test(upper)) throw cronError(MONTH_DAY.name, 'L, LW or a day and W, such as 15W', item);
    else for (const day of parseItem(MONTH_DAY, item)) named.days |= 1 << day;
  }
  return { ...named, nearest };
}

/** Parses the day of week, with L and #. Returns `null` if the field allows every day. */
function parseWeekDays(text: string): WeekDays | null {
  if (isOpen(text)) return null;
  const nth: { day: number; nth: number }[] = [];
  let days = 0;
  let last = 0;
  for (const item of itemsOf(WEEK_DAY, text)) {
    const upper = item.toUpperCase();
    const [, ofLast] = /^(.+?)(?:L|#L)$/.exec(upper) ?? [];
    const [, ofNth, number] = /^([^#]+)#(.*)$/.exec(upper) ?? [];
    if (upper === 'L') throw cronError(WEEK_DAY.name, 'a weekday before L, such as FRIL for the last Friday', item);
    if (ofLast !== undefined) last |= 1 << (parseValue(WEEK_DAY, ofLast) % 7);
    else if (ofNth !== undefined) nth.push({ day: parseValue(WEEK_DAY, ofNth) % 7, nth: parseNth(number ?? '', item) });
    else for (const day of parseItem(WEEK_DAY, item)) days |= 1 << (day % 7);
  }
  return { days, nth, last };
}

function parseNth(text: string, item: string): number {
  if (!/^[1-5]$/.test(text)) throw cronError(WEEK_DAY.name, '1 to 5 or L after #, such as MON#2', item);
  return Number(text);
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
