import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../ops/log.ts';
import { SqliteStore } from './sqlite-store.ts';

/**
 * Opens the file, creating it where there is none, and brings its schema up to date. One process at a time owns a file:
 * others are refused with `store_unavailable`.
 */
export async function openSqlite({ file, clock, log }: { file: string; clock: Clock; log: Log }): Promise<SqliteStore> {
  const store = await SqliteStore.open({ file, clock });
  log.debug({ file: store.location }, 'database opened');
  return store;
}
