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
  /** node:sqlite: a connection after `begin`. Another build of SQLite in this process is refused. */
  | { prepare(text: string): { all(...values: never[]): unknown[] } };

type Shape = Record<string, unknown>;

export function runnerOf(tx: Transaction): RunStatement {
  if (tx === null || (typeof tx !== 'object' && typeof tx !== 'function')) throw notATransaction();
  const shape = tx as unknown as Shape;
  const has = (name: string) => typeof shape[name] === 'function';
  const call = (name: string, ...args: unknown[]) => Reflect.apply(shape[name] as () => unknown, tx, args) as unknown;
  refuseWithoutTransaction(shape, has);
  if (has('unsafe')) return async (text, values) => (await call('unsafe', text, [...values])) as unknown[];
  if (has('$queryRawUnsafe'))
    return async (text, values) => (await call('$queryRawUnsafe', text, ...values)) as unknown[];
  if (has('executeQuery')) return async (text, values) => rowsOf(await call('executeQuery', compiled(text, values)));
  if (has('execute')) return async (text, values) => rowsOf(await call('execute', inline(text, values)));
  if (has('query')) {
    return async (text, values) => {
      await requirePgTransaction(tx as PgClient);
      return rowsOf(await call('query', text, [...values]));
    };
  }
  if (has('prepare')) return (text, values) => runPrepared(tx as unknown as SqliteConnection, text, values);
  if (typeof tx === 'function') return tx;
  throw notATransaction();
}

/** Refuses what runs each statement on any connection, and commits it by itself: the job would outlive a rollback. */
function refuseWithoutTransaction(shape: Shape, has: (name: string) => boolean): void {
  if (has('connect') && typeof shape['idleCount'] === 'number') {
    throw refused('a pool of pg', 'the client of pool.connect() after begin');
  }
  if (has('unsafe') && has('begin')) throw refused('the sql of postgres.js', 'the one that sql.begin() passes');
  if (has('$queryRawUnsafe') && has('$connect')) {
    throw refused('a PrismaClient', 'the one that prisma.$transaction() passes');
  }
  if (has('executeQuery') && shape['isTransaction'] === false) {
    throw refused('a Kysely outside of a transaction', 'the one that db.transaction().execute() passes');
  }
  if (has('execute') && has('transaction') && !has('rollback')) {
    throw refused('a database of Drizzle', 'the transaction that db.transaction() passes');
  }
  if (has('query') && (has('createQueryRunner') || (has('transaction') && shape['queryRunner'] === undefined))) {
    throw refused('a DataSource or manager of TypeORM', 'the manager that dataSource.transaction() passes');
  }
  if (has('raw') && typeof shape['client'] === 'object') {
    throw refused('Knex', 'a function (text, values) => rows that calls trx.raw()');
  }
}

interface PgClient {
  query(text: string): PromiseLike<unknown>;
  /** `I` outside of a transaction, as of the last answer. Since pg 8.17. */
  getTransactionStatus?: () => string | null;
}

async function requirePgTransaction(client: PgClient): Promise<void> {
  const isOpen = () => client.getTransactionStatus === undefined || /^[TE]$/.test(client.getTransactionStatus() ?? '');
  if (isOpen()) return;
  // The answer to `begin` may be on its way.
  await client.query('select 1');
  if (!isOpen()) throw noTransaction('call begin first');
}

interface SqliteConnection {
  readonly isTransaction?: boolean;
  prepare(text: string): { all(...values: unknown[]): unknown[] };
}

function runPrepared(db: SqliteConnection, text: string, values: readonly unknown[]): unknown[] {
  if (db.isTransaction === false) {
    throw noTransaction('call begin first, and commit only after the call has resolved or in the same turn');
  }
  return db.prepare(text).all(...values);
}

function noTransaction(remedy: string): WorkronError {
  return new WorkronError('bad_request', `tx: expected an open transaction, but the connection has none; ${remedy}`);
}

function refused(what: string, remedy: string): WorkronError {
  return new WorkronError('bad_request', `tx: expected a transaction, got ${what}; pass ${remedy}`);
}

function notATransaction(): WorkronError {
  return new WorkronError(
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
