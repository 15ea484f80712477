/**
 * How programs of the same user reach a server on this machine that was started without a token: a folder that only this user
 * can open has the token that the server made, and a socket that needs none.
 */

import { chmodSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSafeSocket, MAX_SOCKET_PATH } from './private-socket.ts';

export interface LocalServer {
  token: string;
  /** The path of its socket; `null` if it has none. */
  socket: string | null;
  /** What it speaks on its port: `http:` or `https:`. */
  protocol: string;
  /** A folder that only this user can open. */
  folder: string;
}

const LOOPBACK = /^(127(\.\d+){3}|localhost|\[::1\])$/;
const FOR_OTHERS = 0o077;

/** Finds the running server of this user at a loopback address; `null` if there is none, or it has no folder. */
export function findLocalServer(url: string): LocalServer | null {
  const { protocol, hostname, port } = new URL(url);
  if (!LOOPBACK.test(hostname)) return null;
  for (const folder of foldersOf(Number(port || (protocol === 'https:' ? 443 : 80)))) {
    if (!isOwn(folder)) continue;
    const [token, pid] = [read(folder, 'token'), Number(read(folder, 'pid'))];
    // A port whose server has ended may be another user's by now.
    if (token === null || !isRunning(pid)) continue;
    return { token, socket: socketIn(folder), protocol: read(folder, 'protocol') ?? protocol, folder };
  }
  return null;
}

/**
 * How to reach the server at `url`. If it is one of this user, and no token is given, its socket needs none: so none can reach
 * another program that takes the port while the server is down.
 */
export function safestAccess(url: string, token: string | null): { url: string; token: string | null } {
  const local = token === null ? findLocalServer(url) : null;
  if (local === null) return { url, token };
  return local.socket !== null && isSafeSocket(local.socket)
    ? { url: `unix:${local.socket}`, token: null }
    : { url, token: local.token };
}

/** The address of the server at `url` for a browser: also if `url` has the wrong protocol for a server of this user. */
export function browserUrl(url: string): string {
  return url.replace(/^https?:/i, findLocalServer(url)?.protocol ?? '$&');
}

/** The folder of a server of this user, by its port. */
export class LocalFolder {
  readonly path: string;

  /** Makes the folder. Throws if it belongs to another user, or cannot be made. */
  constructor(port: number) {
    const errors: string[] = [];
    for (const path of foldersOf(port)) {
      try {
        mkdirSync(path, { recursive: true, mode: 0o700 });
        if (lstatSync(path).uid === process.getuid?.()) chmodSync(path, 0o700);
        if (!isOwn(path)) throw new Error(`${path} is another user's, or a link`);
        this.path = path;
        return;
      } catch (error) {
        errors.push((error as Error).message);
      }
    }
    throw new Error(errors.join('; '));
  }

  get token(): string | null {
    return read(this.path, 'token');
  }

  /** Where the server may listen; `null` if the path is too long for a socket. What an ended server left there is removed. */
  freeSocket(): string | null {
    const path = join(this.path, 'socket');
    rmSync(path, { force: true });
    return Buffer.byteLength(path) <= MAX_SOCKET_PATH && process.platform !== 'win32' ? path : null;
  }

  publish(token: string, protocol: string): void {
    for (const [name, text] of Object.entries({ token, protocol, pid: String(process.pid) })) {
      const path = join(this.path, name);
      rmSync(path, { force: true });
      writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    }
  }

  /** Leaves the token for the next server on the port, unless `forget`. */
  withdraw({ forget }: { forget: boolean }): void {
    if (read(this.path, 'pid') !== String(process.pid)) return;
    if (forget) rmSync(this.path, { recursive: true, force: true });
    else for (const name of ['pid', 'socket']) rmSync(join(this.path, name), { force: true });
  }
}

/** Where the folder may be: in the user's state, or where there is none, among the temporary files. */
function foldersOf(port: number): string[] {
  const state = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  const temporary = join(tmpdir(), `workron-${process.getuid?.() ?? 'user'}`);
  return [join(state, 'workron', String(port)), join(temporary, String(port))];
}

/** Whether no other user can change the folder's contents. Links are not followed. */
function isOwn(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isDirectory()) return false;
  return process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & FOR_OTHERS) === 0);
}

function read(folder: string, name: string): string | null {
  try {
    return readFileSync(join(folder, name), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function socketIn(folder: string): string | null {
  const path = join(folder, 'socket');
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ? path : null;
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
