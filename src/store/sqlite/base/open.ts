/** Jobs in one SQLite file. This side only encodes, calls the threads and decodes. */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../ops/log.ts';
import { LocalHints } from '../../hint.ts';
import type { Store } from '../../store.ts';
import { transactional } from '../graph/enlist.ts';
import { homeOf } from './home.ts';
import { createPrivate, keepFolder, makePrivate, requireOwn } from './private-files.ts';
import type { ReaderMethods } from './reader-methods.ts';
import { storeOn } from './store-on.ts';
import { Thread } from './thread.ts';
import type { WriterMethods } from './writer-methods.ts';

export interface SqliteStore extends Store {
  /** Copies everything as of one moment into `file`, which must not exist, while others go on working. */
  backup(file: string, signal: AbortSignal): Promise<void>;
}

/**
 * Opens the file, creating it if there is none, and migrates its schema. One process at a time owns a file: others are
 * refused with `store_unavailable`, whatever name they use for it. So is a file or a folder of another user.
 */
export async function openSqlite(options: { file: string; clock: Clock; log: Log }): Promise<SqliteStore> {
  const { clock, log } = options;
  // A symbolic link to a file that does not exist cannot be resolved. An existing file must not be opened and closed here: that
  // would end the locks of the application's own connections.
  if (!existsSync(options.file)) {
    keepFolder(dirname(resolve(options.file)), log);
    createPrivate(options.file);
  }
  const file = homeOf(options.file);
  keepFolder(dirname(file), log);
  requireOwn(file);
  const hints = new LocalHints();
  const writer = await Thread.start<WriterMethods>({
    entry: 'writer',
    data: { file },
    clock,
    onChanged: (changed) => hints.announce(changed),
  });
  try {
    makePrivate(file, log);
    const reader = await Thread.start<ReaderMethods>({ entry: 'reader', data: { file }, clock });
    log.debug({ file }, 'database opened');
    const own = { driver: 'sqlite', location: file, transactional: transactional(clock) } as const;
    return {
      ...storeOn({ writer, reader, file, clock }, hints, own),
      async backup(target, signal) {
        signal.throwIfAborted();
        const copying = await Thread.start({ entry: 'backup', data: { file, target: resolve(target) }, clock });
        await copying.ended;
      },
    };
  } catch (error) {
    await writer.close();
    throw error;
  }
}
