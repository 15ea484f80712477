/** Jobs in one SQLite file. This side only encodes, calls the threads and decodes. */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Clock } from '../../../core/clock.ts';
import type { Log } from '../../../ops/log.ts';
import { askAll, bindAll } from '../../bind.ts';
import { LocalHints } from '../../hint.ts';
import type { Store } from '../../store.ts';
import { transactional } from '../graph/enlist.ts';
import { calls, type Threads } from './calls.ts';
import { homeOf } from './home.ts';
import { createPrivate, keepFolder, makePrivate, requireOwn } from './private-files.ts';
import { type ReaderMethods, readerMethods } from './reader-methods.ts';
import { Thread } from './thread.ts';
import { urgentReads, type WriterMethods, writerMethods } from './writer-methods.ts';

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
    return storeOn({ writer, reader, file, clock }, hints);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

function storeOn(threads: Threads, hints: LocalHints): SqliteStore {
  const { writer, reader, file, clock } = threads;
  return {
    driver: 'sqlite',
    location: file,
    exclusive: true,
    leaseKeeper: null,
    transactional: transactional(clock),
    deadlocks: () => 0,
    ...askAll(writerMethods, (name, args, signal) => writer.call(name, args as never, signal)),
    ...askAll(readerMethods, (name, args, signal) => reader.call(name, args as never, signal)),
    ...bindAll(calls, threads),
    fenced: (fence) => storeOn({ ...threads, writer: writer.fenced(fence, urgentReads) }, hints),
    subscribe: (listener) => hints.subscribe(listener),
    observe: (observer) => hints.observe(observer),
    async backup(target, signal) {
      signal.throwIfAborted();
      const copying = await Thread.start({ entry: 'backup', data: { file, target: resolve(target) }, clock });
      await copying.ended;
    },
    /** Calls in flight are answered first. The file is left whole, without its write-ahead log. */
    async [Symbol.asyncDispose]() {
      await reader.close();
      await writer.close();
    },
  };
}
