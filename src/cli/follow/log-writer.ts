/** Writes output to stdout. With `tail`, existing output is cut to its last lines. */

import { once } from 'node:events';

/** After this time without new bytes, the existing output has arrived. */
const QUIET_MS = 250;
const NEWLINE = 0x0a;

export class LogWriter {
  /** The number of lines to keep of the existing output; `null` once they are written. */
  #tail: number | null;
  #held: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(tail: number | undefined) {
    this.#tail = tail ?? null;
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#tail === null) return write(data);
    clearTimeout(this.#timer);
    this.#held = lastLines(Buffer.concat([this.#held, Buffer.from(data as Uint8Array)]), this.#tail);
    this.#timer = setTimeout(() => void this.flush(), QUIET_MS);
  }

  /** Writes the kept lines. Later output is written at once. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#tail = null;
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    if (held.length > 0) await write(held);
  }
}

/** Returns the last `count` lines. A newline at the very end does not begin another line. */
export function lastLines(bytes: Buffer, count: number): Buffer {
  if (count === 0) return Buffer.alloc(0);
  let at = bytes.at(-1) === NEWLINE ? bytes.length - 2 : bytes.length - 1;
  for (let found = 0; at >= 0; at -= 1) {
    at = bytes.lastIndexOf(NEWLINE, at);
    if (at < 0) break;
    found += 1;
    if (found === count) return bytes.subarray(at + 1);
  }
  return bytes;
}

async function write(data: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(data)) await once(process.stdout, 'drain');
}
