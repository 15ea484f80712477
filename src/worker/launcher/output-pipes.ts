/**
 * Pipes for the output of commands. Node can only make socket pairs, one per stream. A named pipe is opened once for
 * both streams, which keeps their order, and `> /dev/stderr` works in a command as in a terminal.
 */

import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const FIRST_BATCH = 16;

export interface OutputPipe {
  path: string;
  readFd: number;
  /** For the command; closed here once the command has been started. */
  writeFd: number;
}

/** Named pipes in one folder, created in batches and reused. */
export class OutputPipes {
  readonly #folder: string;
  readonly #free: string[] = [];
  #made = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  open(): OutputPipe {
    try {
      return openBoth(this.#free.pop() ?? this.#make());
    } catch {
      // The system may have removed temporary files while nothing ran.
      this.#free.length = 0;
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      return openBoth(this.#make());
    }
  }

  /** Takes back a pipe whose ends are closed. `clean`: no other process can hold an end, so it may be reused. */
  giveBack(path: string, clean: boolean): void {
    if (clean) this.#free.push(path);
    else rmSync(path, { force: true });
  }

  #make(): string {
    const count = Math.max(FIRST_BATCH, this.#made);
    const paths = Array.from({ length: count }, (_, index) => join(this.#folder, `pipe-${this.#made + index}`));
    const made = spawnSync('mkfifo', ['-m', '600', ...paths]);
    if (made.status !== 0) throw new Error(`mkfifo failed: ${made.error?.message ?? made.stderr.toString().trim()}`);
    this.#made += count;
    this.#free.push(...paths.slice(1));
    return paths[0] as string;
  }
}

function openBoth(path: string): OutputPipe {
  // The reader opens first and does not block, so that the writer does not block either.
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { path, readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
