/** Folders for the temporary files of a worker. Only its user can enter them, and a sweep finds them by their name. */

import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from './process-table.ts';

const NAME = /^workron-(\d+\.\d+\.\d+)-\w+$/;

/** `owner`: the identity of the worker that the folder belongs to. */
export function makeWorkFolder(owner: string = identityOf(process.pid)): string {
  return mkdtempSync(join(tmpdir(), `workron-${owner}-`));
}

/**
 * True if it is a folder that only this user can use. The temporary directory is open to all users: once the system has
 * removed a folder from it, another user may have made one of the same name, or a link.
 */
export function isPrivateFolder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}

/** A folder that is made again, under a new name, if the system has removed it while nothing ran. */
export class WorkFolder implements Disposable {
  #path = makeWorkFolder();

  get path(): string {
    if (!isPrivateFolder(this.#path)) this.#path = makeWorkFolder();
    return this.#path;
  }

  [Symbol.dispose](): void {
    if (isPrivateFolder(this.#path)) rmSync(this.#path, { recursive: true, force: true });
  }
}

/** The process that made a folder of this name; `undefined` if it is not a worker's folder. */
export function ownerOfFolder(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}
