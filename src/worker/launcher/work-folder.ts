/**
 * Folders for the temporary files of a worker. Only its user can use them, and a sweep finds them by their name. If commands
 * run as another user, a folder within belongs to that user.
 */

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Owner } from './command-user.ts';
import { identityOf } from './process-table.ts';

const NAME = /^workron-(\d+\.\d+\.\d+)-\w+$/;
const COMMANDS = 'commands';

/** `owner`: the identity of the worker that the folder belongs to. */
export function makeWorkFolder(owner: string = identityOf(process.pid)): string {
  return mkdtempSync(join(tmpdir(), `workron-${owner}-`));
}

/**
 * True if it is a folder that only this user can use; others may pass through it if `passable`. The temporary directory is open to
 * all users: once the system has removed a folder from it, another user may have made one of the same name, or a link.
 */
export function isPrivateFolder(path: string, passable = false): boolean {
  return isFolderOf(path, process.getuid?.() ?? -1, passable ? 0o066 : 0o077);
}

function isFolderOf(path: string, uid: number, forbidden: number): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === uid && (stat.mode & forbidden) === 0;
}

/** Removes a folder of this user, and no other. Throws if something of it is left. */
export function removeWorkFolder(path: string): void {
  if (!isPrivateFolder(path, true)) return;
  const commands = join(path, COMMANDS);
  const stat = lstatSync(commands, { throwIfNoEntry: false });
  if (stat !== undefined && stat.uid !== process.getuid?.()) {
    removeAs(stat, [commands]);
    rmdirSync(commands);
  }
  rmSync(path, { recursive: true, force: true });
}

/**
 * Removes files and folders of another user with that user's rights: root would follow a folder that is replaced by a link
 * while it is emptied.
 */
export function removeAs({ uid, gid }: Owner, paths: readonly string[]): void {
  spawnSync('/bin/rm', ['-rf', '--', ...paths], { uid, gid, cwd: '/', env: {}, stdio: 'ignore' });
}

/** A folder that is made again, under a new name, if the system has removed it while nothing ran. */
export class WorkFolder implements Disposable {
  readonly #commandUser: Owner | null;
  #path: string;

  /** `commandUser`: whom commands run as, if not as the user of this process. */
  constructor(commandUser: Owner | null = null) {
    this.#commandUser = commandUser;
    this.#path = this.#make();
  }

  get path(): string {
    if (!this.#isIntact()) this.#path = this.#make();
    return this.#path;
  }

  /** For the files that commands read and write. */
  get commands(): string {
    return this.#commandUser === null ? this.path : join(this.path, COMMANDS);
  }

  [Symbol.dispose](): void {
    try {
      removeWorkFolder(this.#path);
    } catch {
      // A process of the commands' user still writes there. A later sweep tries again.
    }
  }

  #isIntact(): boolean {
    if (this.#commandUser === null) return isPrivateFolder(this.#path);
    return isPrivateFolder(this.#path, true) && isFolderOf(join(this.#path, COMMANDS), this.#commandUser.uid, 0);
  }

  #make(): string {
    const path = makeWorkFolder();
    if (this.#commandUser !== null) {
      const commands = join(path, COMMANDS);
      mkdirSync(commands, { mode: 0o700 });
      chownSync(commands, this.#commandUser.uid, this.#commandUser.gid);
      letPass(path);
    }
    return path;
  }
}

/** Other users may then pass through the folder, but not list it. Its entries are open to one user each. */
export function letPass(path: string): void {
  chmodSync(path, 0o711);
}

/** The process that made a folder of this name; `undefined` if it is not a worker's folder. */
export function ownerOfFolder(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}
