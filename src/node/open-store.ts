/** Opens the store that the settings name. */

import type { Clock } from '../core/clock.ts';
import { isWorkronError } from '../core/error.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import type { Settings } from '../ops/settings/settings.ts';
import type { Store } from '../store/store.ts';

export type StoreSettings = Pick<Settings, 'store' | 'dbDirectUrl' | 'dbSchema' | 'dbPool' | 'dbPreparedStatements'>;

interface OpenStoreOptions {
  log: Log;
  /** Brings a PostgreSQL schema up to date. Without it, an outdated schema is refused with `store_unavailable`. */
  migrate: boolean;
  /** Without `migrate`: tries again until another process has migrated, or this signal aborts. */
  waitUntil?: AbortSignal;
  /** The clock of memory and SQLite stores. PostgreSQL uses the clock of its server. */
  clock?: Clock;
}

const RETRY_MS = 1_000;

/** Drivers are loaded on demand: a process loads only the driver of its own store. */
export async function openStore(
  { store, dbDirectUrl, dbSchema: schema, dbPool: poolSize, dbPreparedStatements: preparedStatements }: StoreSettings,
  { log, migrate, waitUntil, clock = systemClock }: OpenStoreOptions,
): Promise<Store> {
  switch (store.driver) {
    case 'memory': {
      const { openMemory } = await import('../store/memory/base/open.ts');
      return openMemory({ clock });
    }
    case 'sqlite': {
      const { openSqlite } = await import('../store/sqlite/base/open.ts');
      return openSqlite({ file: store.file, clock, log });
    }
    case 'postgres': {
      const { openPostgres } = await import('../store/postgres/base/open.ts');
      const directUrl = dbDirectUrl ?? store.url;
      const options = { url: store.url, directUrl, schema, poolSize, preparedStatements, migrate, log };
      const open = () => openPostgres(options);
      return migrate || waitUntil === undefined ? open() : retry(open, log, waitUntil);
    }
  }
}

/** A process that does not migrate may start before the one that does, or before the database. */
async function retry(open: () => Promise<Store>, log: Log, signal: AbortSignal): Promise<Store> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await open();
    } catch (error) {
      if (!isWorkronError(error) || !error.retryable || signal.aborted) throw error;
      if (tries === 0) log.warn({ error }, 'waiting for the database');
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}
