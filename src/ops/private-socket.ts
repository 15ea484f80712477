/**
 * Sockets of the file system that nobody can take over while their server is down: a client sends its token only to one that
 * root, the client's own user, or the owner of its folder has made.
 */

import { lstatSync, readlinkSync, rmSync, type Stats } from 'node:fs';
import { createConnection } from 'node:net';
import { dirname, join, resolve } from 'node:path';

const FOR_OTHERS = 0o022;
/** In such a folder, only the owner of an entry can replace it. */
const STICKY = 0o1000;
const MAX_LINKS = 40;
/** The address of a socket has at most this many bytes. */
export const MAX_SOCKET_PATH = 100;

/** A socket, or a place for one, that somebody else could use or replace. */
export class UnsafeSocketError extends Error {
  override readonly name = 'UnsafeSocketError';
}

/** Throws `UnsafeSocketError` if another user could have made this socket, or could replace it. */
export function checkSocket(path: string): void {
  if (process.getuid === undefined) return;
  const { stat, at } = walk(path, new Set([0, process.getuid()]));
  if (!stat.isSocket()) throw new UnsafeSocketError(`${at} is no socket`);
}

/** Whether no other user could have made this socket, or could replace it. */
export function isSafeSocket(path: string): boolean {
  try {
    checkSocket(path);
    return true;
  } catch {
    return false;
  }
}

/** Makes sure that a server can listen here, and nobody else. What an ended server left is removed. */
export async function prepareSocket(path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH) {
    throw new UnsafeSocketError(`${path} is longer than ${MAX_SOCKET_PATH} bytes`);
  }
  const user = process.getuid?.();
  const folder = dirname(path);
  const { stat, at } = walk(folder, new Set([0, ...(user === undefined ? [] : [user])]));
  if (!stat.isDirectory()) throw new UnsafeSocketError(`${at} is no folder`);
  if (user !== undefined && stat.uid !== user) throw new UnsafeSocketError(`${at} belongs to another user`);
  if ((stat.mode & FOR_OTHERS) !== 0) throw new UnsafeSocketError(`other users can write to ${at}`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new UnsafeSocketError(`${path} is no socket`);
  if (await isListening(path)) throw new UnsafeSocketError(`another server listens on ${path}`);
  rmSync(path, { force: true });
}

function isListening(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = createConnection(path);
    socket.on('connect', () => {
      socket.destroy();
      done(true);
    });
    // Any other error than these says nothing about whether somebody listens.
    socket.on('error', ({ code }: NodeJS.ErrnoException) => done(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
}

/**
 * Goes from the root to a file, through links, and throws if another user can replace something on the way. The owner of a
 * folder is trusted with what is in it: only root, this user, or the owner of a folder above has put it there.
 */
function walk(path: string, trusted: Set<number>): { stat: Stats; at: string } {
  const names = partsOf(resolve(path));
  let at = '/';
  let stat = lstatSync(at);
  let links = 0;
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const isShared = isOpen(stat);
    if (isShared && (stat.mode & STICKY) === 0) throw new UnsafeSocketError(`other users can write to ${at}`);
    const next = join(at, name);
    const entry = lstatSync(next);
    const mayBeAnyones = isShared || !entry.isDirectory();
    if (!trusted.has(entry.uid) && mayBeAnyones) throw new UnsafeSocketError(`${next} belongs to another user`);
    if (entry.isSymbolicLink()) {
      links += 1;
      if (links > MAX_LINKS) throw new UnsafeSocketError(`${path} has too many links`);
      const target = resolve(at, readlinkSync(next));
      names.unshift(...partsOf(target));
      [at, stat] = ['/', lstatSync('/')];
      continue;
    }
    trusted.add(entry.uid);
    [at, stat] = [next, entry];
  }
  return { stat, at };
}

function isOpen({ mode }: Stats): boolean {
  return (mode & FOR_OTHERS) !== 0;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}
