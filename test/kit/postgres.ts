/** PostgreSQL for tests: one server for all, a schema per test. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestStore } from '../../contract/kit/store.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres, type PostgresOptions } from '../../src/store/postgres/base/open.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

export { type PostgresServer, startPostgres } from './postgres-server.ts';

let own: Promise<PostgresServer> | undefined;

/** The server that `npm test` started for all files, or one that this file starts for itself and that ends with it. */
export async function testPostgresUrl(): Promise<string> {
  const given = process.env['WORKRON_TEST_PG_URL'];
  if (given !== undefined) return given;
  own ??= startPostgres().then((server) => {
    server.unref();
    process.once('beforeExit', () => void server.stop());
    return server;
  });
  return (await own).url;
}

export function testSchema(): string {
  return `test_${randomBytes(6).toString('hex')}`;
}

export interface PostgresTestStore extends TestStore {
  url: string;
  schema: string;
  /** Statements of the test itself, on connections of their own. */
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
}

/** `options` may name another server or schema. */
export async function openTestPostgres(options: Partial<PostgresOptions> = {}): Promise<PostgresTestStore> {
  const url = options.url ?? (await testPostgresUrl());
  const schema = options.schema ?? testSchema();
  const store = await openPostgres({ log: silentLog, ...options, url, schema });
  const query = queriesTo(url);
  return {
    store,
    url,
    schema,
    query,
    advance: async (ms) => {
      await query(`update "${schema}".meta set clock_offset_ms = clock_offset_ms + $1`, [ms]);
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await query(`drop schema if exists "${schema}" cascade`);
    },
  };
}

/** A database of its own, for tests that count pages: open transactions of other tests do not keep its dead rows. */
export async function createTestDatabase(): Promise<AsyncDisposable & { url: string }> {
  const server = await testPostgresUrl();
  const query = queriesTo(server);
  const name = testSchema();
  await query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await query(`drop database ${name} with (force)`);
    },
  };
}

const emptied: string[] = [];

/** The same in a schema that was used before and emptied, for tests by the hundred: making one takes ten times as long. */
export async function openEmptiedPostgres(): Promise<PostgresTestStore> {
  const url = await testPostgresUrl();
  const schema = emptied.pop() ?? testSchema();
  const given = await openTestPostgres({ url, schema });
  return {
    ...given,
    async [Symbol.asyncDispose]() {
      await given.store[Symbol.asyncDispose]();
      await empty(given);
      emptied.push(schema);
      // A server of our own goes with all that is in it.
      if (own === undefined) process.off('beforeExit', beforeExit).once('beforeExit', beforeExit);
    },
  };
}

/** As a migration leaves it. Locks of a connection that is about to end are those of another installation. */
async function empty({ schema, query }: PostgresTestStore): Promise<void> {
  const tables = await query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = $1 and tablename <> 'meta'`,
    [schema],
  );
  const sequences = await query<{ name: string }>(
    'select sequencename as name from pg_sequences where schemaname = $1 and last_value is not null',
    [schema],
  );
  await query(
    [
      ...tables.map(({ name }) => `delete from "${schema}"."${name}"`),
      ...sequences.map(({ name }) => `alter sequence "${schema}"."${name}" restart`),
      `update "${schema}".meta set clock_offset_ms = 0, lock_space = floor(random() * 2147483647)::integer`,
    ].join(';'),
  );
}

const beforeExit = () => void dropEmptied();

const dropEmptied = async (): Promise<void> => {
  const query = queriesTo(await testPostgresUrl());
  for (const schema of emptied.splice(0)) await query(`drop schema "${schema}" cascade`);
};

const pools = new Map<string, pg.Pool>();

export function queriesTo(url: string): PostgresTestStore['query'] {
  const known = pools.get(url);
  const pool = known ?? new pg.Pool({ connectionString: url, allowExitOnIdle: true });
  if (known === undefined) {
    pools.set(url, pool);
    // A test may stop its server.
    pool.on('error', () => undefined);
  }
  return async <Row>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values.length === 0 ? undefined : values)).rows as Row[];
}
