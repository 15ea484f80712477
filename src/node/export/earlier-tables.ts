/** Tables of exports from before the first release, whose columns were others. */

import type { Value } from './format.ts';

/** Tables that exports from before the first release need not have. */
export const ADDED_TABLES: readonly string[] = ['durable', 'step'];

interface EarlierTable {
  columns: readonly string[];
  /** Returns the row as it is stored now, or `undefined` if it is left out. */
  convert: (row: readonly Value[]) => readonly Value[] | undefined;
}

const EARLIER: Readonly<Record<string, EarlierTable>> = {
  audit: {
    columns: ['id', 'at', 'actor', 'address', 'action', 'path', 'status', 'request_id'],
    convert: ([id, at, actor, address, action, path, status, request]) => {
      const result = status === null ? null : Number(status) < 400 ? 'ok' : 'bad_request';
      return [id, at, actor, address, action, path, result, null, null, request].map((value) => value ?? null);
    },
  },
  lane: {
    columns: ['id', 'key', 'queue'],
    convert: ([id, key, queue]) => [
      id ?? null,
      key ?? null,
      queue ?? null,
      String(key).endsWith(',"gang"]') ? 1 : 0,
      null,
    ],
  },
  notice: {
    columns: 'id kind due created_at job_id workflow_id status schedule detail look_at'.split(' '),
    convert: (row) => row,
  },
  notification: {
    columns: ['job_id', 'event', 'subject_job_id', 'workflow_id', 'schedule', 'created_at'],
    convert: (row) => row,
  },
  // People log in again.
  session: {
    columns: ['hash', 'kind', 'caller', 'request', 'created_at', 'seen_at', 'expires_at'],
    convert: () => undefined,
  },
};

/** Returns how rows with these columns become rows of the table; `undefined` if it never had them. */
export function conversionOf(table: string, columns: unknown): EarlierTable['convert'] | undefined {
  const earlier = EARLIER[table];
  return earlier !== undefined && JSON.stringify(columns) === JSON.stringify(earlier.columns)
    ? (row) => earlier.convert(row)
    : undefined;
}
