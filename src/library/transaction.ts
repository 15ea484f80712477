/** Transactions of the application, recognised by the methods of the client that runs their statements. */

import { WorkronError } from '../core/error.ts';
import type { RunStatement } from '../store/transactional.ts';

export type { RunStatement } from '../store/transactional.ts';

/** Runs statements inside a transaction: a client after `begin`, the transaction of a query builder, or a function. */
export type Transaction =
  | RunStatement
  /** pg: a client after `begin`. */
  | { query(text: string, values?: unknown[]): PromiseLike<{ rows: unknown[] }> }
  /** postgres.js: `sql.begin((sql) => …)`. */
  | { unsafe(text: string, values?: never[]): PromiseLike<readonly unknown[]> }
  /** Kysely: `db.transaction().execute((trx) => …)`. */
  | { executeQuery(query: never): Promise<{ rows: unknown[] }> }
  /** Prisma: `prisma.$transaction((tx) => …)`. */
  | { $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown> }
  /** Drizzle: `db.transaction((tx) => …)`. */
  | { execute(text: string): PromiseLike<unknown> }
  /** node:sqlite and better-sqlite3: a connection after `begin`. */
  | { prepare(text: string): { all(...values: never[]): unknown[] } };

type Shape = Record<string, ((...args: unknown[]) => unknown) | undefined>;

export function runnerOf(tx: Transaction): RunStatement {
  const shape = tx as unknown as Shape;
  const has = (name: string) => typeof shape[name] === 'function';
  const call = (name: string, ...args: unknown[]) => Reflect.apply(shape[name] as () => unknown, tx, args) as unknown;
  if (has('unsafe')) return async (text, values) => (await call('unsafe', text, [...values])) as unknown[];
  if (has('$queryRawUnsafe'))
    return async (text, values) => (await call('$queryRawUnsafe', text, ...values)) as unknown[];
  if (has('executeQuery')) return async (text, values) => rowsOf(await call('executeQuery', compiled(text, values)));
  if (has('execute')) return async (text, values) => rowsOf(await call('execute', inline(text, values)));
  if (has('query')) return async (text, values) => rowsOf(await call('query', text, [...values]));
  if (has('prepare')) {
    return async (text, values) => (call('prepare', text) as { all(...args: unknown[]): unknown[] }).all(...values);
  }
  if (typeof tx === 'function') return tx;
  throw new WorkronError(
    'bad_request',
    'tx: expected a pg client, a transaction of Kysely, Drizzle, postgres.js or Prisma, a SQLite connection, or a function',
  );
}

/** Drivers return rows, or an object that holds them. */
function rowsOf(answer: unknown): unknown[] {
  return Array.isArray(answer) ? (answer as unknown[]) : (answer as { rows: unknown[] }).rows;
}

/** A compiled query, as Kysely passes it to its driver. */
function compiled(text: string, values: readonly unknown[]): object {
  const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] };
  return { sql: text, parameters: values, query, queryId: { queryId: 'workron' } };
}

/** Drizzle takes a text without parameters. Literals are escaped so that no session setting changes their meaning. */
function inline(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, place: string) => literal(values[Number(place) - 1]));
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return String(value);
  return `E'${(value as string).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
