/** Copies a snapshot of a database while writes go on; any process that can read the file can do it. */

import { linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { requireNew } from '../../../ops/new-file.ts';
import { syncPath } from '../../../ops/sync-path.ts';
import { Database } from './database.ts';
import { homeOf } from './home.ts';
import { createPrivate } from './private-files.ts';
import { toStoreError } from './store-error.ts';

/** The target appears once the copy is complete and on disk. An existing file is not overwritten. */
export function copyDatabase(from: string, to: string): void {
  requireNew(to);
  const partial = `${to}.partial`;
  rmSync(partial, { force: true });
  try {
    using database = new Database(homeOf(from), { readOnly: true });
    // SQLite copies into an empty file, too, and keeps its permissions.
    createPrivate(partial);
    database.run('vacuum into ?', partial);
    syncPath(partial);
    linkSync(partial, to);
  } catch (error) {
    throw toStoreError(error, to);
  } finally {
    rmSync(partial, { force: true });
  }
  syncPath(dirname(to));
}
