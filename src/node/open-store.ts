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
  /** With `false`, an idle store does not keep the process alive. Those of memory and SQLite never do. */
  keepsAlive?: boolean;
  /** Tries again while the database is away or lacks migrations, until this signal aborts. Without it, that is an error. */
  waitUntil?: AbortSignal;
  /** Called with the reason before each further try. */
  onWaiting?: (reason: string) => Promise<void> | undefined;
  /** The clock of memory and SQLite stores. PostgreSQL uses the clock of its server. */
  clock?: Clock;
}

const RETRY_MS = 1_000;
/** A connection or a migration that takes longer than this is reported. */
const SLOW_MS = 1_000;
const SLOW = Symbol('slow');

/** Drivers are loaded on demand: a process loads only the driver of its own store. */
export async function openStore(
  { store, dbDirectUrl, dbSchema: schema, dbPool: poolSize, dbPreparedStatements: preparedStatements }: StoreSettings,
  { log, migrate, keepsAlive = true, waitUntil, onWaiting, clock = systemClock }: OpenStoreOptions,
): Promise<Store> {
  switch (store.driver) {
    case 'memory': {
      const { openMemory } = await import('../store/memory/open.ts');
      return openMemory({ clock });
    }
    case 'sqlite': {
      const { openSqlite } = await import('../store/sqlite/base/open.ts');
      return openSqlite({ file: store.file, clock, log });
    }
    case 'postgres': {
      const { openPostgres } = await import('../store/postgres/base/open.ts');
      const directUrl = dbDirectUrl ?? store.url;
      const options = { url: store.url, directUrl, schema, poolSize, preparedStatements, migrate, keepsAlive, log };
      const open = () => openPostgres(options);
      return waitUntil === undefined ? open() : retry(open, { log, signal: waitUntil, onWaiting });
    }
  }
}

interface Retry extends Pick<OpenStoreOptions, 'log'> {
  signal: AbortSignal;
  onWaiting: OpenStoreOptions['onWaiting'];
}

/** A process may start before the database, or before the process that migrates it. */
async function retry(open: () => Promise<Store>, { log, signal, onWaiting }: Retry): Promise<Store> {
  let logged = '';
  for (;;) {
    try {
      const opening = open();
      const slow = systemClock.sleep(SLOW_MS, signal).then(() => SLOW);
      if ((await Promise.race([opening, slow])) === SLOW) await onWaiting?.('it has not answered yet');
      const store = await opening;
      if (logged !== '') log.info({}, 'the database is there');
      return store;
    } catch (error) {
      if (!isWorkronError(error) || !error.retryable || signal.aborted) throw error;
      if (logged !== error.message) log.warn({ error }, `waiting for the database: ${error.message}`);
      logged = error.message;
      // The message names the address and the user of the database, which callers without a token must not learn.
      await onWaiting?.('it cannot be reached; the log says why');
      await systemClock.sleep(RETRY_MS, signal);
    }
  }
}
