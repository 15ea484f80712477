/** A reader's thread: a connection of its own that cannot write. */

import { parentPort, workerData } from 'node:worker_threads';
import { Database } from './database.ts';
import { engineMethods } from './engine.ts';
import { encodeFailure } from './failure.ts';
import { send } from './protocol.ts';
import { readerMethods } from './reader-methods.ts';
import { serve } from './serve.ts';
import { toStoreError } from './store-error.ts';

const { file } = workerData as { file: string };
if (parentPort === null) throw new Error('runs as a thread only');
try {
  const database = new Database(file, { readOnly: true });
  serve(parentPort, {
    database,
    file,
    methods: { ...readerMethods, ...engineMethods('read') },
    begin: 'begin',
    maxGroup: 1,
    close: () => database[Symbol.dispose](),
  });
} catch (error) {
  send(parentPort, { failed: encodeFailure(toStoreError(error, file)) });
  parentPort.close();
}
