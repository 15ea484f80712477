/** The two day fields, with L, W and #. */

import { cronError, isOpen, itemsOf, MONTH_DAY, parseItem, parseValue, WEEK_DAY } from './cron-field.ts';
import type { MonthDays, WeekDays } from './day-rule.ts';

/** `null` if the field allows every day. */
export function parseMonthDays(text: string): MonthDays | null {
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

/** `null` if the field allows every day. */
export function parseWeekDays(text: string): WeekDays | null {
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
