/** Cursors: the position at which a page of a list ended, as opaque text. */

import { invalid } from '../api/decode.ts';
import { idFromPath } from '../api/fields.ts';

export const DEFAULT_PAGE_SIZE = 50;

const ID_PREFIX = 'before:';
const NAME_PREFIX = 'after:';

/** The cursor of a list that is ordered by id; `null` at its end. */
export function toCursor(before: number | null): string | null {
  return before === null ? null : encode(`${ID_PREFIX}${before}`);
}

/** The id before which a page begins; `null` without a cursor. */
export function beforeFrom(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  return idFromPath(valueIn(cursor, ID_PREFIX)) ?? refuse();
}

/** The cursor of a list that is ordered by name; `null` at its end. */
export function toNameCursor(after: string | null): string | null {
  return after === null ? null : encode(`${NAME_PREFIX}${after}`);
}

/** The name after which a page begins; `null` without a cursor. */
export function afterFrom(cursor: string | undefined): string | null {
  return cursor === undefined ? null : valueIn(cursor, NAME_PREFIX);
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function valueIn(cursor: string, prefix: string): string {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  return text.startsWith(prefix) ? text.slice(prefix.length) : refuse();
}

function refuse(): never {
  throw invalid([{ pointer: '/cursor', detail: 'expected a next_cursor of this list' }]);
}
