/** One Workron in this process on a fresh store, as `up` would put it together. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { DEFAULT_SPEC, type NewJob } from '../src/core/job.ts';
import { localSource } from '../src/library/local-source.ts';
import { systemClock } from '../src/ops/clock.ts';
import { silentLog } from '../src/ops/log.ts';
import { Metrics } from '../src/ops/metrics.ts';
import { createScheduler, type SchedulerParts } from '../src/scheduler/create-scheduler.ts';
import { runDuties, runStatistics } from '../src/scheduler/duties.ts';
import { openMemory } from '../src/store/memory/base/open.ts';
import { openPostgres } from '../src/store/postgres/base/open.ts';
import { openSqlite } from '../src/store/sqlite/base/open.ts';
import type { Driver, Store } from '../src/store/store.ts';
import { startPostgres } from '../test/kit/postgres.ts';
import { type Admin, connectAdmin } from './admin.ts';

export interface Scene extends SchedulerParts, AsyncDisposable {
  store: Store;
  source: ReturnType<typeof localSource>;
  /** How the benchmark looks at the store from outside; absent where nothing is outside of this process. */
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
export function sceneOn(store: Store, outside?: Outside): Scene {
  const own = new AsyncDisposableStack();
  own.use(store);
  const settings = { leaseMs: 30_000, heartbeatMs: 5_000 };
  const shared = { store, clock: systemClock, random: Math.random, log: silentLog, instanceId: 'bench' };
  const parts = createScheduler({ ...shared, ...settings, metrics: new Metrics('0', 'bench') });
  own.use(parts.scheduler);
  const abort = new AbortController();
  const retention = { doneMs: 7 * 86_400_000, otherMs: 30 * 86_400_000, statsMs: 90 * 86_400_000 };
  const duties = runDuties(
    parts,
    { leaseMs: 30_000, reapEveryMs: 10_000, forgetWorkersAfterMs: 86_400_000, retention, ledgerMs: 90 * 86_400_000 },
    abort.signal,
  );
  const statistics = runStatistics(parts, abort.signal);
  own.defer(async () => {
    abort.abort();
    await Promise.all([duties, statistics]);
  });
  const source = localSource({
    scheduler: parts.scheduler,
    attachment: store.exclusive ? 'local' : 'direct',
    version: '0',
  });
  const scene: Scene = { ...parts, store, source, [Symbol.asyncDispose]: () => own.disposeAsync() };
  return outside === undefined ? scene : { ...scene, outside };
}

/** Opens scenes on one driver; PostgreSQL is one durable server for all of them, a schema each. */
export async function scenes(driver: Driver): Promise<Scenes> {
  const stack = new AsyncDisposableStack();
  const postgres = driver === 'postgres' ? stack.use(await startPostgres({ durable: true })) : null;
  let count = 0;
  const admin = postgres === null ? undefined : stack.use(await connectAdmin(postgres.url));
  const open = async (): Promise<Scene> => {
    const store = await openStore();
    return admin === undefined ? sceneOn(store) : sceneOn(store, { admin, schema: `bench_${count}` });
  };
  const openStore = async (): Promise<Store> => {
    count += 1;
    if (driver === 'memory') return openMemory({ clock: systemClock });
    if (postgres !== null) {
      return openPostgres({
        url: postgres.url,
        schema: `bench_${count}`,
        poolSize: 10,
        migrate: true,
        log: silentLog,
      });
    }
    const folder = await mkdtemp(join(tmpdir(), 'workron-bench-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    return openSqlite({ file: join(folder, 'bench.db'), clock: systemClock, log: silentLog });
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
