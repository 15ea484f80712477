/** Database files hold commands, inputs, output and environment variables: only their owner may read them. */

import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { WorkronError } from '../../../core/error.ts';
import type { Log } from '../../../ops/log.ts';

const PRIVATE = 0o600;
const FOR_OTHERS = 0o077;
const OTHERS_WRITE = 0o002;
/** In a folder with this bit, as in /tmp, only its owner and that of a file can replace the file. */
const STICKY = 0o1000;
/** SQLite gives new files beside the database the permissions of the database. */
const SUFFIXES = ['', '-wal', '-shm', '-owner', '-owner-journal'];

/** Creates an empty file, which SQLite takes as a new database. An existing file is left as it is. */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', PRIVATE));
  } catch {
    // SQLite opens it next, and says why it cannot.
  }
}

/**
 * Throws if a file of the database belongs to another user than this process's or root: whoever owns it can write jobs into it. In a
 * folder that others can write to, such as /tmp, another user can make the file, or a log that SQLite would apply to it.
 */
export function requireOwn(database: string): void {
  const own = process.getuid?.();
  if (own === undefined) return;
  for (const suffix of [...SUFFIXES, '-journal']) {
    const file = `${database}${suffix}`;
    const owner: number = statSync(file, { throwIfNoEntry: false })?.uid ?? own;
    if (owner === own || owner === 0) continue;
    throw new WorkronError(
      'store_unavailable',
      `${file} belongs to another user (${owner}), who could write jobs into it that run as this one; run as that user, choose another file, or make it yours (chown)`,
    );
  }
}

/**
 * Keeps other users from replacing files in the folder of a database, which needs no right to the files. Takes the right to write there
 * away from them if the folder is this process's own. Throws if it is another user's, or one of root that all can write to.
 */
export function keepFolder(folder: string, log: Log): void {
  const own = process.getuid?.();
  const stat = statSync(folder, { throwIfNoEntry: false });
  // A folder that is not there is an error of SQLite, which says so.
  if (own === undefined || stat === undefined) return;
  if (stat.uid !== own && stat.uid !== 0) throw refusedFolder(folder, `belongs to another user (${stat.uid})`);
  if ((stat.mode & OTHERS_WRITE) === 0 || (stat.mode & STICKY) !== 0) return;
  if (stat.uid !== own) throw refusedFolder(folder, 'can be written to by all users');
  const mode = (stat.mode & 0o777).toString(8);
  try {
    chmodSync(folder, stat.mode & 0o7777 & ~OTHERS_WRITE);
    log.warn({ folder, mode }, 'took the right to write to the folder of the database away from other users');
  } catch (error) {
    log.warn(
      { folder, mode, error },
      'other users may replace the database in its folder, whose mode cannot be changed',
    );
  }
}

function refusedFolder(folder: string, why: string): WorkronError {
  return new WorkronError(
    'store_unavailable',
    `the folder ${folder} ${why}: others could replace the database in it, with jobs that run as this user; choose another folder by --db-url, or make it yours (chown, chmod o-w)`,
  );
}

/** Takes permissions of other users away from the files of a database, which may be older than this rule. */
export function makePrivate(database: string, log: Log): void {
  for (const suffix of SUFFIXES) {
    const file = `${database}${suffix}`;
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined || (stat.mode & FOR_OTHERS) === 0) continue;
    const mode = (stat.mode & 0o777).toString(8);
    try {
      chmodSync(file, PRIVATE);
      log.warn({ file, mode }, 'took permissions of other users away from a database file');
    } catch (error) {
      log.warn({ file, mode, error }, 'other users may read a database file, and its mode cannot be changed');
    }
  }
}
