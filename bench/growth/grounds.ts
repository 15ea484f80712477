/** Where growth is measured: one durable PostgreSQL that counts what its statements do, a schema for each scene. */

import pg from 'pg';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../../test/kit/postgres-server.ts';

export interface Grounds extends AsyncDisposable {
  readonly url: string;
  /** A connection for statements of the bench itself. */
  readonly client: pg.Client;
  /** Jobs worked on where a cost per job is measured. */
  readonly jobs: number;
  /** A size of the goals, scaled by `--share`. */
  sized(count: number): number;
  /** The store in this schema, made where it is new. */
  open(schema: string): Promise<Store>;
  /** Schemas that were filled, by what they hold: filling takes the most time, so several sections share one. */
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
  // What the bench itself writes need not wait for the disk; the stores have connections of their own.
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
