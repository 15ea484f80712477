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

/** The same text for equal values. `source`: a value of SQLite, where JSON is text and instants need the clocks' difference. */
export function comparable(
  value: unknown,
  { type, isOfClock }: Column,
  source: { differenceMs: number } | null,
): string {
  if (value === null || value === undefined) return '\0';
  switch (type) {
    case 'timestamp with time zone':
      return String(Math.round(Number(value) + (isOfClock ? (source?.differenceMs ?? 0) : 0)));
    case 'boolean':
      return value === 1 || value === true ? 't' : 'f';
    case 'bytea':
      return Buffer.from(value as Uint8Array).toString('latin1');
    case 'jsonb':
    case 'text[]':
    case 'bigint[]':
    case 'integer[]':
      return JSON.stringify(sorted(source === null ? value : JSON.parse(textual(value))));
    default:
      return textual(value);
  }
}

/** Objects with their keys in order: `jsonb` has an order of its own. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
