/** Opens the store that the settings name. */

import { isWorkronError } from '../core/error.ts';
import { systemClock } from '../ops/clock.ts';
import type { Log } from '../ops/log.ts';
import type { Settings } from '../ops/settings/settings.ts';
import type { Store } from '../store/store.ts';

export interface OpenOptions {
  log: Log;
  /** Bring the schema up to date; without it, wait until somebody else has. */
  migrate: boolean;
  signal: AbortSignal;
}

const WAIT_MS = 1_000;

export async function openStore(settings: Settings, { log, migrate, signal }: OpenOptions): Promise<Store> {
  const { store } = settings;
  // Loaded on demand: a SQLite installation never reads the PostgreSQL driver, and the other way round.
  switch (store.driver) {
    case 'memory': {
      const { openMemory } = await import('../store/memory/base/open.ts');
      return openMemory({ clock: systemClock });
    }
    case 'sqlite': {
      const { openSqlite } = await import('../store/sqlite/base/open.ts');
      return openSqlite({ file: store.file, clock: systemClock, log });
    }
    case 'postgres': {
      const { openPostgres } = await import('../store/postgres/base/open.ts');
      const { dbDirectUrl, dbSchema: schema, dbPool: poolSize } = settings;
      const directUrl = dbDirectUrl ?? store.url;
      const open = () => openPostgres({ url: store.url, directUrl, schema, poolSize, migrate, log });
      return migrate ? open() : waitFor(open, log, signal);
    }
  }
}

/** A process that does not migrate may be started before the one that does, or before the database. */
async function waitFor(open: () => Promise<Store>, log: Log, signal: AbortSignal): Promise<Store> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await open();
    } catch (error) {
      if (!isWorkronError(error) || !error.retryable || signal.aborted) throw error;
      if (tries === 0) log.warn({ error }, 'waiting for the database');
      await systemClock.sleep(WAIT_MS, signal);
    }
  }
}
