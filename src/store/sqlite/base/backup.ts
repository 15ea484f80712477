/** A thread that copies a snapshot of the database into a new file while writes go on, and then ends. */

import { parentPort, workerData } from 'node:worker_threads';
import { copyDatabase } from './copy-database.ts';
import { encodeFailure } from './failure.ts';
import { send } from './protocol.ts';

const { file, target } = workerData as { file: string; target: string };
if (parentPort === null) throw new Error('runs as a thread only');
try {
  copyDatabase(file, target);
  send(parentPort, { ready: true });
} catch (error) {
  send(parentPort, { failed: encodeFailure(error) });
} finally {
  parentPort.close();
}
