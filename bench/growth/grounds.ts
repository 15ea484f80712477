/** The database of the growth bench: one durable PostgreSQL that counts its statements' work, one schema per scene. */

import pg from 'pg';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../../test/kit/postgres-server.ts';

export interface Grounds extends AsyncDisposable {
  readonly url: string;
  /** A connection for statements of the bench itself. */
  readonly client: pg.Client;
  /** Jobs per measurement of a cost per job. */
  readonly jobs: number;
  /** A size of the goals, scaled by `--share`. */
  sized(count: number): number;
  /** Opens the store in this schema; creates the schema if needed. */
  open(schema: string): Promise<Store>;
  /** Filled schemas by their content. Filling takes most of the time, so sections share them. */
  readonly filled: Map<string, string>;
}

export async function openGrounds({ share, jobs }: { share: number; jobs: number }): Promise<Grounds> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres({ durable: true }));
  const first = await connect(server.url);
  await first.query(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await first.end();
  await server.restart('fast');
  const client = await connect(server.url);
  stack.defer(() => client.end());
  await client.query('create extension pg_stat_statements');
  // Writes of the bench itself do not wait for the disk; the stores have their own connections.
  await client.query('set synchronous_commit = off');
  const owned = stack.move();
  return {
    url: server.url,
    client,
    jobs,
    sized: (count) => Math.max(1, Math.round(count * share)),
    open: (schema) => openPostgres({ url: server.url, schema, poolSize: 10, migrate: true, log: silentLog }),
    filled: new Map(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
