/**
 * The files of commands. Whatever a command has made in their place, reading and writing them neither waits nor leaves the
 * folder. `owner`: whom the files belong to, if not to the user of this process.
 */

import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Owner } from '../launcher/command-user.ts';

/** Creates a file that only its owner can read, and returns its descriptor. */
export function createPlainFile(path: string, owner: Owner | null): number {
  const fd = openNew(path);
  if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
  return fd;
}

/** Replaces what another command may have put there, and never follows it. */
function openNew(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    removeFile(path);
    return openSync(path, 'wx', 0o600);
  }
}

export function writePlainFile(path: string, content: string | Uint8Array, owner: Owner | null): void {
  const fd = createPlainFile(path, owner);
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/** An open file; `null` if there is none. Throws if it is something else than a plain file. */
export function openPlainFile(path: string, owner: Owner | null): { fd: number; stat: Stats } | null {
  // Most commands write none: an error would cost more than this look.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  let fd: number;
  try {
    // Does not follow a symbolic link or wait for a named pipe that the command may have created.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error('is not a plain file that can be read', { cause: error });
  }
  const stat = fstatSync(fd);
  // As root, a link that the command has made to a file of another user would be read.
  const isTheirs = owner === null || stat.uid === owner.uid;
  if (stat.isFile() && isTheirs) return { fd, stat };
  closeSync(fd);
  throw new Error(isTheirs ? 'is not a plain file' : 'is a file of another user');
}

/** The last bytes of a file as text; `null` if there is none. Throws if it is something else than a plain file. */
export function readEnd(path: string, maxBytes: number, owner: Owner | null): string | null {
  const file = openPlainFile(path, owner);
  if (file === null) return null;
  try {
    const buffer = Buffer.alloc(Math.min(file.stat.size, maxBytes));
    const read = readSync(file.fd, buffer, 0, buffer.length, Math.max(0, file.stat.size - maxBytes));
    return buffer.toString('utf8', 0, read);
  } finally {
    closeSync(file.fd);
  }
}

/** Removes a file, if there is one. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // There is none.
  }
}
