/** Statements that both databases share, inside a thread. */

import type { Columns } from '../../sql/columns.ts';
import { type Fragment, renderSqlite } from '../../sql/sql.ts';
import type { Context } from './context.ts';
import type { Param } from './database.ts';

/** A statement with its parameters. */
export function rendered({ now }: Pick<Context, 'now'>, statement: Fragment): [string, ...Param[]] {
  const { text, values } = renderSqlite(statement, now);
  return [text, ...values.map((value) => (typeof value === 'boolean' ? Number(value) : value) as Param)];
}

export function readShared<T>(context: Pick<Context, 'database' | 'now'>, row: Columns<T>, statement: Fragment): T[] {
  return context.database
    .all<Record<string, unknown>>(...rendered(context, statement))
    .map((one) => row.fromSqlite(one));
}
