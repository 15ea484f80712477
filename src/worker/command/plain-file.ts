/** Files that a command wrote: whatever they are, reading them neither waits nor leaves the folder. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats, unlinkSync } from 'node:fs';

/** An open file; `null` if there is none. Throws if it is something else than a plain file. */
export function openPlainFile(path: string): { fd: number; stat: Stats } | null {
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
  if (stat.isFile()) return { fd, stat };
  closeSync(fd);
  throw new Error('is not a plain file');
}

/** The last bytes of a file as text; `null` if there is none. Throws if it is something else than a plain file. */
export function readEnd(path: string, maxBytes: number): string | null {
  const file = openPlainFile(path);
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
