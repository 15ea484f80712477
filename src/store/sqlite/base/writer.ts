/** The writer's thread: locks the file, migrates it, and serves. */

import { parentPort, workerData } from 'node:worker_threads';
import { Disposables } from '../../../ops/disposables.ts';
import { Database } from './database.ts';
import { engineMethods } from './engine.ts';
import { encodeFailure } from './failure.ts';
import { recordHome } from './home.ts';
import { lockFile } from './lock-file.ts';
import { installedVersion, migrate } from './migrate.ts';
import { refusePromoted } from './promotion-mark.ts';
import { send } from './protocol.ts';
import { serve } from './serve.ts';
import { sql } from './sql.ts';
import { toStoreError } from './store-error.ts';
import { writerMethods } from './writer-methods.ts';

/** Pages in the write-ahead log after which a commit moves them into the file, which takes longer. */
const CHECKPOINT_PAGES = 4_000;

/** Bytes to which the write-ahead log is truncated after it has grown beyond. */
const MAX_IDLE_WAL = 64 * 1024 * 1024;

/** Pages kept in memory, in KiB. */
const CACHE_KIB = 16_384;

const { file } = workerData as { file: string };
if (parentPort === null) throw new Error('runs as a thread only');
const stack = new Disposables();
try {
  stack.use(lockFile(file));
  const database = stack.use(new Database(file, { readOnly: false }));
  const installed = installedVersion(database, file);
  if (installed > 0) refusePromoted(database, file);
  database.script(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
    pragma journal_size_limit = ${MAX_IDLE_WAL};
    pragma cache_size = -${CACHE_KIB};
  `);
  migrate(database, installed);
  recordHome(database, file);
  database.run(sql.endTerms);
  serve(parentPort, {
    database,
    file,
    methods: { ...writerMethods, ...engineMethods('write', 'urgent') },
    begin: 'begin immediate',
    maxGroup: 64,
    close: () => stack[Symbol.dispose](),
  });
} catch (error) {
  stack[Symbol.dispose]();
  send(parentPort, { failed: encodeFailure(toStoreError(error, file)) });
  parentPort.close();
}
