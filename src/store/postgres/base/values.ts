/** Converts between PostgreSQL's text form and ours: instants are epoch milliseconds, bigints are numbers. */

import pg from 'pg';

type Parser = (text: string) => unknown;

const OIDS = {
  int8: 20,
  int2Array: 1005,
  int4Array: 1007,
  textArray: 1009,
  int8Array: 1016,
  float8Array: 1022,
  timestamptz: 1184,
} as const;

const driversOwn = pg.types.getTypeParser as (oid: number) => Parser;
const parseTexts = driversOwn(OIDS.textArray);

const PARSERS: Readonly<Record<number, Parser>> = {
  [OIDS.int8]: Number,
  [OIDS.int2Array]: parseNumbers,
  [OIDS.int4Array]: parseNumbers,
  [OIDS.textArray]: (text) => (text === '{}' ? [] : parseTexts(text)),
  [OIDS.int8Array]: parseNumbers,
  [OIDS.float8Array]: parseNumbers,
  [OIDS.timestamptz]: parseInstant,
};

/** For the `types` option of a connection. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number) => PARSERS[oid] ?? driversOwn(oid)) as pg.CustomTypesConfig['getTypeParser'],
};

/** Our arrays of numbers hold no nulls. As JSON they are parsed without a string for each number. */
function parseNumbers(text: string): number[] {
  return JSON.parse(`[${text.slice(1, -1)}]`) as number[];
}

const FAR_YEAR = /^(\d{5,6})-/;

/** Sessions are set to UTC, so the offset is always the same. */
function parseInstant(text: string): number {
  const iso = `${text.replace(' ', 'T')}:00`;
  const ms = Date.parse(iso.replace(FAR_YEAR, (_, year: string) => `+${year.padStart(6, '0')}-`));
  if (Number.isNaN(ms)) throw new Error(`cannot read the instant ${text}`);
  return ms;
}

/** An array of numbers in PostgreSQL's text form: cheaper than the driver's conversion of any array. */
export function numbers(values: readonly (number | null)[]): string {
  return written(values, String);
}

/** As `numbers`, for `unnest` beside a full array: it fills up with nulls. */
export function numbersIfAny(values: readonly (number | null)[]): string {
  return values.every((value) => value === null) ? '{}' : numbers(values);
}

/** An array of texts in PostgreSQL's text form; also for an element of an array of rows, which need not be equally long. */
export function texts(values: readonly (string | null)[]): string {
  return written(values, quoted);
}

/** Neighbouring values are mostly equal: what was written for the one before is used again. */
function written<T>(values: readonly (T | null)[], write: (value: T) => string): string {
  let last: T | null = null;
  let text = 'NULL';
  const all = values.map((value) => {
    if (value !== last) text = value === null ? 'NULL' : write(value);
    last = value;
    return text;
  });
  return `{${all.join(',')}}`;
}

/** An array of JSON values in PostgreSQL's text form. JSON has no other characters that need quoting. */
export function jsons(values: readonly unknown[]): string {
  return `{${values.map((value) => (value == null ? 'NULL' : JSON.stringify(JSON.stringify(value)))).join(',')}}`;
}

/** As `jsons`, for `unnest` beside a full array: it fills up with nulls. */
export function jsonsIfAny(values: readonly unknown[]): string {
  return values.every((value) => value == null) ? '{}' : jsons(values);
}

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}
