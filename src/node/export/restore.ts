/**
 * Makes an installation from an export. The rows go into a SQLite file at the version of the schema that they had, which is then
 * migrated. For PostgreSQL that file is a temporary one, and is promoted.
 */

import { linkSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { requireNew } from '../../ops/new-file.ts';
import type { StoreChoice } from '../../ops/settings/settings.ts';
import { syncPath } from '../../ops/sync-path.ts';
import { Database } from '../../store/sqlite/base/database.ts';
import { homeOf } from '../../store/sqlite/base/home.ts';
import { lockFile } from '../../store/sqlite/base/lock-file.ts';
import { migrate } from '../../store/sqlite/base/migrate.ts';
import { createPrivate } from '../../store/sqlite/base/private-files.ts';
import { toStoreError } from '../../store/sqlite/base/store-error.ts';
import { load } from './load.ts';

export interface RestoreOptions {
  /** The bytes of the export. */
  input: AsyncIterable<Buffer>;
  store: Exclude<StoreChoice, { driver: 'memory' }>;
  schema: string;
  /** Reports each table. */
  tell: (line: string) => void;
}

/** Returns the number of rows. The target must be empty. */
export async function restore({ store, schema, ...options }: RestoreOptions): Promise<number> {
  if (store.driver === 'sqlite') return await restoreFile(store.file, options);
  const { promote, requireEmpty } = await import('../promote/promote.ts');
  await requireEmpty({ url: store.url, schema });
  const folder = await mkdtemp(join(tmpdir(), 'workron-restore-'));
  try {
    const file = join(folder, 'workron.db');
    const rows = await restoreFile(file, options);
    await promote({ file, url: store.url, schema, differenceMs: 0, tell: options.tell });
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type FileOptions = Pick<RestoreOptions, 'input' | 'tell'>;

/** The file appears once it is complete, compared and on disk. */
async function restoreFile(path: string, { input, tell }: FileOptions): Promise<number> {
  const file = homeOf(path);
  using _owner = lockFile(file);
  requireNew(file);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    createPrivate(partial);
    const rows = await fill(partial, { input, tell });
    syncPath(partial);
    linkSync(partial, file);
    return rows;
  } catch (error) {
    throw toStoreError(error, file);
  } finally {
    rmSync(partial, { force: true });
    syncPath(dirname(file));
  }
}

async function fill(file: string, { input, tell }: FileOptions): Promise<number> {
  using database = new Database(file, { readOnly: false });
  // A crash may damage the file: it has a temporary name until it is complete, and is then written to disk.
  database.script('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -65536');
  const { rows, schemaVersion } = await load(database, input, tell);
  migrate(database, schemaVersion);
  return rows;
}
