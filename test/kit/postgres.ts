/** PostgreSQL for tests: one server for all, a schema per test. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres, type PostgresOptions } from '../../src/store/postgres/open.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';
import type { TestStore } from './store.ts';

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
  /** Statements of the test itself, on a connection of its own. */
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>;
}

/** `options` may name another server or schema. */
export async function openTestPostgres(options: Partial<PostgresOptions> = {}): Promise<PostgresTestStore> {
  const url = options.url ?? (await testPostgresUrl());
  const schema = options.schema ?? testSchema();
  const store = await openPostgres({ log: silentLog, ...options, url, schema });
  const query = async <Row>(text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  };
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
