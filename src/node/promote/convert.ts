/** Values of SQLite in PostgreSQL's text form, and in a form in which both can be compared. */

import type { Column } from './tables.ts';

/** `differenceMs` is added to instants: what PostgreSQL's clock shows less what this machine's clock shows. */
export function textOf(value: unknown, { type, isOfClock }: Column, differenceMs: number): string | null {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'timestamp with time zone':
      return new Date(Number(value) + (isOfClock ? differenceMs : 0)).toISOString().replace(/^\+0*/, '');
    case 'boolean':
      return value === 1 ? 't' : 'f';
    case 'bytea':
      return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`;
    case 'text[]':
      return `{${(JSON.parse(textual(value)) as string[]).map(quoted).join(',')}}`;
    case 'bigint[]':
    case 'integer[]':
      return `{${(JSON.parse(textual(value)) as number[]).join(',')}}`;
    default:
      return textual(value);
  }
}

/** Only texts and numbers get here. */
function textual(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a function that has the same text for equal values of a column. Both stores read JSON as text, instants as milliseconds. */
export function comparing({ type, isOfClock }: Column, differenceMs: number): (value: unknown) => string {
  switch (type) {
    case 'timestamp with time zone': {
      const addedMs = isOfClock ? differenceMs : 0;
      return (value) => (value === null ? NOTHING : String(Math.round(Number(value) + addedMs)));
    }
    case 'boolean':
      return (value) => (value === null ? NOTHING : value === 1 || value === true ? 't' : 'f');
    case 'bytea':
      return (value) => (value === null ? NOTHING : Buffer.from(value as Uint8Array).toString('latin1'));
    case 'jsonb':
    case 'text[]':
    case 'bigint[]':
    case 'integer[]':
      return comparingJson();
    default:
      return (value) => (value === null ? NOTHING : textual(value));
  }
}

const NOTHING = '\0';

/** Neighbouring rows mostly have the same text. */
function comparingJson(): (value: unknown) => string {
  let [last, compared]: [unknown, string] = [null, NOTHING];
  return (value) => {
    if (value !== last) {
      compared = value === null ? NOTHING : JSON.stringify(sorted(JSON.parse(textual(value))));
      last = value;
    }
    return compared;
  };
}

/** Objects with their keys in order: `jsonb` has an order of its own. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
