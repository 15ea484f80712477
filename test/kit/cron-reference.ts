/**
 * Cron by brute force on Temporal, following the wording of the rules: checks every minute of a span. Slow, simple, and
 * without any code of src.
 */

/// <reference lib="esnext.temporal" />

export interface Span {
  timezone: string;
  /** Ticks in (`after`, `through`]. */
  after: number;
  through: number;
}

interface Minute {
  date: Temporal.PlainDate;
  hour: number;
  minute: number;
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

/** The ticks of a five-field expression by the rules. */
export function referenceTicks(expression: string, span: Span): number[] {
  const fields = expression.split(' ');
  const wildcard = [fields[0], fields[1]].some((field) => field === '*' || (field?.startsWith('*/') ?? false));
  const ticks = wildcard ? followingRealTime(fields, span) : oncePerWallTime(fields, span);
  return [...new Set(ticks)].filter((tick) => tick > span.after && tick <= span.through).sort((a, b) => a - b);
}

/** True if the day fields and the month match this date. */
export function namesDate(fields: readonly string[], date: Temporal.PlainDate): boolean {
  const [, , days = '', months = '', weekdays = ''] = fields;
  if (!names(months, date.month, { min: 1, max: 12, words: MONTHS, first: 1 })) return false;
  const byMonth = days.split(',').some((item) => namesMonthDay(item, date));
  const byWeek = weekdays.split(',').some((item) => namesWeekday(item, date));
  if (days === '*') return byWeek;
  return weekdays === '*' ? byMonth : byMonth || byWeek;
}

function followingRealTime(fields: readonly string[], { timezone, after, through }: Span): number[] {
  const ticks: number[] = [];
  for (let at = Math.ceil(after / 60_000) * 60_000; at <= through; at += 60_000) {
    const shown = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone);
    if (namesMinute(fields, { date: shown.toPlainDate(), hour: shown.hour, minute: shown.minute })) ticks.push(at);
  }
  return ticks;
}

function oncePerWallTime(fields: readonly string[], { timezone, after, through }: Span): number[] {
  const ticks: number[] = [];
  const dateOf = (at: number) => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDate();
  const end = dateOf(through).add({ days: 2 });
  for (let date = dateOf(after).subtract({ days: 2 }); date.until(end).days > 0; date = date.add({ days: 1 })) {
    for (let hour = 0; hour < 24; hour += 1) {
      for (let minute = 0; minute < 60; minute += 1) {
        if (!namesMinute(fields, { date, hour, minute })) continue;
        const wall = date.toPlainDateTime({ hour, minute });
        let at = wall.toZonedDateTime(timezone, { disambiguation: 'earlier' });
        while (Temporal.PlainDateTime.compare(at.toPlainDateTime(), wall) < 0) at = at.add({ minutes: 1 });
        ticks.push(at.epochMilliseconds);
      }
    }
  }
  return ticks;
}

function namesMinute(fields: readonly string[], { date, hour, minute }: Minute): boolean {
  return (
    names(fields[0] ?? '', minute, { min: 0, max: 59 }) &&
    names(fields[1] ?? '', hour, { min: 0, max: 23 }) &&
    namesDate(fields, date)
  );
}

interface Values {
  min: number;
  max: number;
  words?: readonly string[];
  /** The value of the first word. */
  first?: number;
}

function names(field: string, value: number, values: Values): boolean {
  return field.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/');
    const [low, high] = range === '*' ? [values.min, values.max] : range.split('-').map((word) => read(word, values));
    const from = low as number;
    const to = high ?? (item.includes('/') ? values.max : from);
    return value >= from && value <= to && (value - from) % Number(step) === 0;
  });
}

function read(word: string, { words = [], first = 0 }: Values): number {
  return words.includes(word) ? words.indexOf(word) + first : Number(word);
}

function namesMonthDay(item: string, date: Temporal.PlainDate): boolean {
  if (item === 'L') return date.day === date.daysInMonth;
  if (item.endsWith('W')) {
    const wanted = item === 'LW' ? date.daysInMonth : Number(item.slice(0, -1));
    if (wanted > date.daysInMonth) return false;
    const nearest = [0, -1, 1, -2, 2]
      .map((distance) => date.with({ day: wanted }).add({ days: distance }))
      .find((other) => other.month === date.month && other.dayOfWeek <= 5);
    return nearest?.equals(date) ?? false;
  }
  return names(item, date.day, { min: 1, max: 31 });
}

function namesWeekday(item: string, date: Temporal.PlainDate): boolean {
  const weekday = date.dayOfWeek % 7;
  const [day = '', nth] = item.split('#');
  if (nth !== undefined)
    return read(day, { min: 0, max: 6, words: WEEKDAYS }) % 7 === weekday && Math.ceil(date.day / 7) === Number(nth);
  if (item.endsWith('L')) {
    const last = read(item.slice(0, -1), { min: 0, max: 6, words: WEEKDAYS }) % 7;
    return last === weekday && date.add({ days: 7 }).month !== date.month;
  }
  const values = { min: 0, max: 6, words: WEEKDAYS };
  return (
    names(item, weekday, values) ||
    (weekday === 0 && item !== '*' && names(item, 7, { ...values, max: 7 }) && !item.includes('/'))
  );
}
