/** Which days of a month an expression names. */

import { dayNumber, daysInMonth, weekday } from './civil.ts';

/** The day-of-month field. `null` if the field is `*`. */
export interface MonthDays {
  /** Bit n is day n. */
  days: number;
  /** `L`: the last day. */
  last: boolean;
  /** `15W`: the working day nearest to the 15th, within the month; none in a month without a 15th. */
  nearest: readonly number[];
  /** `LW`: the last working day. */
  lastWorking: boolean;
}

/** The day-of-week field, 0 is Sunday. `null` if the field is `*`. */
export interface WeekDays {
  /** Bit n is weekday n. */
  days: number;
  /** `MON#2`: the second Monday. */
  nth: readonly { day: number; nth: number }[];
  /** `FRIL`: the last Friday. Bit n is weekday n. */
  last: number;
}

export interface DayRule {
  /** Bit n is month n. */
  months: number;
  monthDays: MonthDays | null;
  weekDays: WeekDays | null;
}

/** The days of one month as bits, bit n for day n. If both fields are given, a day named by either counts. */
export function daysNamed(rule: DayRule, year: number, month: number): number {
  if ((rule.months & (1 << month)) === 0) return 0;
  const length = daysInMonth(year, month);
  const all = allDays(length);
  const { monthDays, weekDays } = rule;
  if (monthDays === null && weekDays === null) return all;
  const first = weekday(dayNumber(year, month, 1));
  let days = 0;
  if (monthDays !== null) days |= byMonth(monthDays, length, first);
  if (weekDays !== null) days |= byWeek(weekDays, length, first);
  return days & all;
}

/** Bits 1 to `length`. */
export function allDays(length: number): number {
  return length >= 31 ? ~1 : (1 << (length + 1)) - 2;
}

function byMonth({ days, last, nearest, lastWorking }: MonthDays, length: number, first: number): number {
  let named = days;
  if (last) named |= 1 << length;
  if (lastWorking) named |= 1 << workingDay(length, length, first);
  for (const day of nearest) if (day <= length) named |= 1 << workingDay(day, length, first);
  return named;
}

function byWeek({ days, nth, last }: WeekDays, length: number, first: number): number {
  let named = 0;
  for (let day = 1; day <= length; day += 1) {
    const bit = 1 << ((first + day - 1) % 7);
    if ((days & bit) !== 0 || ((last & bit) !== 0 && day > length - 7)) named |= 1 << day;
  }
  for (const each of nth) {
    const day = 1 + ((each.day - first + 7) % 7) + (each.nth - 1) * 7;
    if (day <= length) named |= 1 << day;
  }
  return named;
}

/** Saturdays move to Friday and Sundays to Monday, or in the other direction if that would leave the month. */
function workingDay(day: number, length: number, first: number): number {
  const weekday = (first + day - 1) % 7;
  if (weekday === 6) return day > 1 ? day - 1 : day + 2;
  if (weekday === 0) return day < length ? day + 1 : day - 2;
  return day;
}
