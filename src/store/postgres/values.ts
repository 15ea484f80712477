/** How values cross between PostgreSQL's text form and ours: instants are epoch milliseconds, bigints are numbers. */

import pg from 'pg';

type Parser = (text: string) => unknown;

const OIDS = { int8: 20, textArray: 1009, int8Array: 1016, timestamptz: 1184 } as const;

const driversOwn = pg.types.getTypeParser as (oid: number) => Parser;
const parseTexts = driversOwn(OIDS.textArray);

const PARSERS: Readonly<Record<number, Parser>> = {
  [OIDS.int8]: Number,
  [OIDS.int8Array]: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
  [OIDS.textArray]: (text) => (text === '{}' ? [] : parseTexts(text)),
  [OIDS.timestamptz]: parseInstant,
};

/** For the `types` option of a connection. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number) => PARSERS[oid] ?? driversOwn(oid)) as pg.CustomTypesConfig['getTypeParser'],
};

const FAR_YEAR = /^(\d{5,6})-/;

/** Sessions are set to UTC, so the offset is always the same. */
function parseInstant(text: string): number {
  const iso = `${text.replace(' ', 'T')}:00`;
  const ms = Date.parse(iso.replace(FAR_YEAR, (_, year: string) => `+${year.padStart(6, '0')}-`));
  if (Number.isNaN(ms)) throw new Error(`cannot read the instant ${text}`);
  return ms;
}

/** An array of numbers as PostgreSQL writes it: cheaper than what the driver does for arrays of anything. */
export function numbers(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** One array of texts inside an array of rows: rows of different lengths cannot be sent as one array. */
export function texts(values: readonly string[]): string {
  if (values.length === 0) return '{}';
  return `{${values.map((value) => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
