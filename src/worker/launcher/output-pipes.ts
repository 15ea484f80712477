/**
 * Pipes for the output of commands. Node can only make socket pairs, one per stream. A named pipe is opened once for
 * both streams, which keeps their order, and `> /dev/stderr` works in a command as in a terminal.
 */

import { spawnSync } from 'node:child_process';
import { chownSync, closeSync, constants, fstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Owner } from './command-user.ts';
import { LAUNCHER_MARK } from './process-table.ts';
import { isPrivateFolder, letPass, makeWorkFolder } from './work-folder.ts';

const FIRST_BATCH = 16;

export interface OutputPipe {
  path: string;
  readFd: number;
  /** For the command. */
  writeFd: number;
}

/** Named pipes in one folder, created in batches and reused. */
export class OutputPipes {
  #folder: string;
  readonly #user: Owner | null;
  readonly #free: string[] = [];
  #made = 0;

  /** `user`: whom the pipes belong to, if not to the user of this process: that of the commands, who opens them. */
  constructor(folder: string, user: Owner | null) {
    this.#folder = folder;
    this.#user = user;
  }

  open(): OutputPipe {
    try {
      return this.#openBoth(this.#free.pop() ?? this.#make());
    } catch {
      // The system may have removed temporary files while nothing ran. What has their names now may be another user's.
      this.#free.length = 0;
      this.#folder = makeWorkFolder(process.env[LAUNCHER_MARK]);
      if (this.#user !== null) letPass(this.#folder);
      return this.#openBoth(this.#make());
    }
  }

  /** Takes back a pipe whose ends are closed. `clean`: no other process can hold an end, so it may be reused. */
  giveBack(path: string, clean: boolean): void {
    if (clean) this.#free.push(path);
    else rmSync(path, { force: true });
  }

  #make(): string {
    if (!isPrivateFolder(this.#folder, this.#user !== null)) throw new Error(`${this.#folder} is gone`);
    const count = Math.max(FIRST_BATCH, this.#made);
    const paths = Array.from({ length: count }, (_, index) => join(this.#folder, `pipe-${this.#made + index}`));
    const made = spawnSync('mkfifo', ['-m', '600', ...paths]);
    if (made.status !== 0) throw new Error(`mkfifo failed: ${made.error?.message ?? made.stderr.toString().trim()}`);
    if (this.#user !== null) for (const path of paths) chownSync(path, this.#user.uid, this.#user.gid);
    this.#made += count;
    this.#free.push(...paths.slice(1));
    return paths[0] as string;
  }

  #openBoth(path: string): OutputPipe {
    // The reader opens first and does not block, so that the writer does not block either.
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(readFd);
      const uid = this.#user?.uid ?? process.getuid?.();
      if (!stat.isFIFO() || stat.uid !== uid) throw new Error(`${path} is not a pipe of this user`);
      return { path, readFd, writeFd: openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW) };
    } catch (error) {
      closeSync(readFd);
      throw error;
    }
  }
}
