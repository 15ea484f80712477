/** One Workron in this process on a fresh store, as `up` would put it together. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Driver } from '../src/core/driver.ts';
import { DEFAULT_SPEC, type NewJob } from '../src/core/job.ts';
import { NODE_DEFAULTS, openNode } from '../src/node/node.ts';
import { openStore } from '../src/node/open-store.ts';
import { silentLog } from '../src/ops/log.ts';
import type { StoreChoice } from '../src/ops/settings/settings.ts';
import type { Scheduler } from '../src/scheduler/scheduler.ts';
import type { Store } from '../src/store/store.ts';
import type { JobSource } from '../src/worker/job-source.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { type Admin, connectAdmin } from './admin.ts';

export interface Scene extends AsyncDisposable {
  scheduler: Scheduler;
  store: Store;
  source: JobSource;
  /** How the benchmark looks at the store from outside; absent if nothing is outside of this process. */
  outside?: Outside;
}

export interface Outside {
  admin: Admin;
  schema: string;
}

export type OpenScene = () => Promise<Scene>;

export function noop(more: Partial<NewJob> = {}): NewJob {
  return { ...DEFAULT_SPEC, handler: 'noop', runAt: null, delayMs: null, unique: null, dependsOn: [], ...more };
}

export interface Scenes extends AsyncDisposable {
  open: OpenScene;
  /** Transactions that the server has committed so far; only where there is a server. */
  transactions?: () => Promise<number>;
}

/** One Workron in this process on a store that is already open, and that is closed with it. */
export async function sceneOn(store: Store, outside?: Outside): Promise<Scene> {
  const node = await openNode({ store, settings: NODE_DEFAULTS, log: silentLog });
  void node.runRoles(['scheduler']);
  // No job here blocks the event loop, so the lease needs no thread of its own.
  const { leaseKeeper: _, ...source } = node.source();
  const scene: Scene = { scheduler: node.scheduler, store, source, [Symbol.asyncDispose]: () => node.close() };
  return outside === undefined ? scene : { ...scene, outside };
}

/** Opens scenes on one driver; PostgreSQL is one durable server for all of them, a schema each. */
export async function scenes(driver: Driver): Promise<Scenes> {
  const stack = new AsyncDisposableStack();
  const postgres = driver === 'postgres' ? stack.use(await startPostgres({ durable: true })) : null;
  const admin = postgres === null ? undefined : stack.use(await connectAdmin(postgres.url));
  let count = 0;
  const open = async (): Promise<Scene> => {
    count += 1;
    const schema = `bench_${count}`;
    const settings = {
      store: await choice(),
      dbDirectUrl: null,
      dbSchema: schema,
      dbPool: 10,
      dbPreparedStatements: true,
    };
    const store = await openStore(settings, { log: silentLog, migrate: true });
    return sceneOn(store, admin === undefined ? undefined : { admin, schema });
  };
  const choice = async (): Promise<StoreChoice> => {
    if (driver === 'memory') return { driver };
    if (postgres !== null) return { driver: 'postgres', url: postgres.url };
    const folder = await mkdtemp(join(tmpdir(), 'workron-bench-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    return { driver: 'sqlite', file: join(folder, 'bench.db') };
  };
  const scenesOf: Scenes = { open, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  if (postgres !== null) {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    stack.defer(() => client.end());
    scenesOf.transactions = async () => {
      const counted = 'select sum(xact_commit + xact_rollback)::integer as count from pg_stat_database';
      return ((await client.query(counted)).rows[0] as { count: number }).count;
    };
  }
  return scenesOf;
}
