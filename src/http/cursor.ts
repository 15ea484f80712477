/** Where a page of a list ended, as a text that callers only hand back. */

import { invalid } from '../api/decode.ts';
import { idFromPath } from '../api/fields.ts';

const PREFIX = 'before:';

export function toCursor(before: number): string {
  return Buffer.from(`${PREFIX}${before}`).toString('base64url');
}

export function fromCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const before = text.startsWith(PREFIX) ? idFromPath(text.slice(PREFIX.length)) : undefined;
  if (before === undefined) throw invalid([{ pointer: '/cursor', detail: 'expected a next_cursor of this list' }]);
  return before;
}

const NAME_PREFIX = 'after:';

export function toNameCursor(after: string): string {
  return Buffer.from(`${NAME_PREFIX}${after}`).toString('base64url');
}

export function fromNameCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  if (!text.startsWith(NAME_PREFIX)) {
    throw invalid([{ pointer: '/cursor', detail: 'expected a next_cursor of this list' }]);
  }
  return text.slice(NAME_PREFIX.length);
}
