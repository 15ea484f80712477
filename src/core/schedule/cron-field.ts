/** One field of a cron expression: lists of values, ranges and steps. */

import { WorkronError } from '../error.ts';

interface FieldKind {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the values, starting with that of `min`. */
  readonly names?: readonly string[];
}

export const SECOND: FieldKind = { name: 'second', min: 0, max: 59 };
export const MINUTE: FieldKind = { name: 'minute', min: 0, max: 59 };
export const HOUR: FieldKind = { name: 'hour', min: 0, max: 23 };
export const MONTH_DAY: FieldKind = { name: 'day of month', min: 1, max: 31 };
export const MONTH: FieldKind = {
  name: 'month',
  min: 1,
  max: 12,
  names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
};
/** Sunday is 0 or 7. */
export const WEEK_DAY: FieldKind = {
  name: 'day of week',
  min: 0,
  max: 7,
  names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
};

/** True for `*` or `?`, alone or with a step: the field follows the clock rather than naming times. */
export function isWildcard(text: string): boolean {
  return /^[*?](\/\d+)?$/.test(text);
}

/** True for `*` or `?`, alone or with step 1: the field allows every value. */
export function isOpen(text: string): boolean {
  return /^[*?](\/0*1)?$/.test(text);
}

/** The values of a whole field, sorted. */
export function parseField(kind: FieldKind, text: string): number[] {
  const values = new Set<number>();
  for (const item of itemsOf(kind, text)) for (const value of parseItem(kind, item)) values.add(value);
  return [...values].sort((a, b) => a - b);
}

export function itemsOf(kind: FieldKind, text: string): string[] {
  const items = text.split(',');
  if (items.includes('')) throw cronError(kind.name, 'a value on each side of every comma', text);
  return items;
}

/** The values of `5`, `MON`, `1-5`, `MON-FRI` or `*`, alone or with a step. */
export function parseItem(kind: FieldKind, item: string): number[] {
  const [range = '', step, ...more] = item.split('/');
  if (more.length > 0) throw cronError(kind.name, 'one step at most', item);
  const [from, to] = parseRange(kind, range, step !== undefined);
  const by = step === undefined ? 1 : parseStep(kind, step, item);
  const values: number[] = [];
  for (let value = from; value <= to; value += by) values.push(value);
  return values;
}

/** The value of a number or a name. */
export function parseValue(kind: FieldKind, text: string): number {
  const named = kind.names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return kind.min + named;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= kind.min && value <= kind.max)) throw cronError(kind.name, expectedBy(kind), text);
  return value;
}

function parseRange(kind: FieldKind, text: string, stepped: boolean): [number, number] {
  const max = kind === WEEK_DAY ? 6 : kind.max;
  if (text === '*' || text === '?') return [kind.min, max];
  const dash = text.indexOf('-');
  if (dash < 0) {
    const value = parseValue(kind, text);
    return [value, stepped ? Math.max(value, max) : value];
  }
  const from = parseValue(kind, text.slice(0, dash));
  const to = parseValue(kind, text.slice(dash + 1));
  // FRI-SUN ends with the following Sunday.
  const end = kind === WEEK_DAY && to === 0 && from > 0 ? 7 : to;
  if (from > end) throw cronError(kind.name, 'a range from low to high (two ranges where it wraps around)', text);
  return [from, end];
}

function parseStep(kind: FieldKind, step: string, item: string): number {
  const max = kind === WEEK_DAY ? 7 : kind.max - kind.min + 1;
  const by = /^\d{1,4}$/.test(step) ? Number(step) : 0;
  if (by < 1 || by > max) throw cronError(kind.name, `a step from 1 to ${max}`, item);
  return by;
}

function expectedBy({ min, max, names }: FieldKind): string {
  return `${min}–${max}${names === undefined ? '' : ` or a name such as ${names[1]}`}`;
}

/** An error that names the field, what was expected there and what was found. */
export function cronError(field: string, expected: string, got: string): WorkronError {
  return new WorkronError(
    'schedule_invalid',
    `cron: ${field}: expected ${expected}, got ${JSON.stringify(got.slice(0, 64))}`,
  );
}
