/** One process owns a database file. The lock is the operating system's, so it ends with the process. */

import { WorkronError } from '../../../core/error.ts';
import { DatabaseSync } from './node-sqlite.ts';
import { createPrivate } from './private-files.ts';
import { isBusy } from './store-error.ts';

/**
 * Locks `<file>-owner` until disposed of. Throws `store_unavailable` if another process holds it.
 * The empty file stays behind: deleting it would let two processes lock two files of the same name.
 */
export function lockFile(file: string): Disposable {
  createPrivate(`${file}-owner`);
  const lock = new DatabaseSync(`${file}-owner`);
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new WorkronError(
      'store_unavailable',
      `${file} is in use by another Workron process; talk to that one over HTTP (--url), or stop it first`,
      { cause: error },
    );
  }
  return { [Symbol.dispose]: () => lock.close() };
}
