/** The files of checkpoints: `$WORKRON_CHECKPOINT`, which a command writes, and `$WORKRON_LAST_CHECKPOINT`, which it reads. */

import { closeSync, createWriteStream, fstatSync, lstatSync, read, readdirSync, rmSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { CheckpointContent } from '../../core/checkpoint.ts';
import type { Owner } from '../launcher/command-user.ts';
import { removeAs } from '../launcher/work-folder.ts';
import { createPlainFile, openPlainFile, removeFile } from './plain-file.ts';

const BLOCK_BYTES = 256 * 1024;
const readAsync = promisify(read);

/**
 * One version of a checkpoint. The file stays open, so that a version that is renamed over it does not change what is
 * read. A command that writes into the file instead makes reading it fail: that is no version.
 */
export class CheckpointVersion implements CheckpointContent, Disposable {
  readonly kind = 'bytes';
  readonly bytes: number;
  /** Different for every version. */
  readonly identity: string;
  readonly #fd: number;

  /** Returns the present version; `null` if there is none. Throws if it is something else than a plain file. */
  static open(path: string, owner: Owner | null): CheckpointVersion | null {
    const file = openPlainFile(path, owner);
    return file === null ? null : new CheckpointVersion(file.fd, file.stat);
  }

  private constructor(fd: number, stat: Stats) {
    this.#fd = fd;
    this.bytes = stat.size;
    this.identity = identityOf(stat);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.bytes; ) {
      const buffer = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, this.bytes - at));
      const { bytesRead } = await readAsync(this.#fd, buffer, 0, buffer.length, at);
      at += bytesRead;
      if (bytesRead === 0 || (at >= this.bytes && identityOf(fstatSync(this.#fd)) !== this.identity)) {
        throw new Error('$WORKRON_CHECKPOINT was written while it was read; write another file and rename it');
      }
      yield buffer.subarray(0, bytesRead);
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

function identityOf({ ino, size, mtimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs}`;
}

/** Writes a checkpoint to a file that only its owner can read. */
export async function writeCheckpointFile(
  file: { path: string; owner: Owner | null },
  { chunks }: CheckpointContent,
  signal: AbortSignal,
) {
  const fd = createPlainFile(file.path, file.owner);
  await pipeline(chunks(), createWriteStream(file.path, { fd }), { signal });
}

/** Removes the file of a checkpoint, and files beside it whose names begin with its name: versions that were not finished. */
export function removeWithDrafts(path: string, owner: Owner | null): void {
  const [folder, name] = [dirname(path), basename(path)];
  const isDraft = (other: string) =>
    other === name || (other.startsWith(name) && !/^\d/.test(other.slice(name.length)));
  for (const draft of readdirSync(folder)
    .filter(isDraft)
    .map((other) => join(folder, other))) {
    if (!lstatSync(draft, { throwIfNoEntry: false })?.isDirectory()) removeFile(draft);
    else if (owner === null) rmSync(draft, { recursive: true, force: true });
    else removeAs(owner, [draft]);
  }
}
