import { IntList } from '../../core/int-list.ts';

/** The number of bytes that are allocated at a time. */
const CHUNK_BYTES = 256 * 1024;

/**
 * A long list of JSON values that are read one at a time. They are stored as text outside of the heap, where they need
 * little more memory than in the request; each read parses the value again.
 */
export class PackedJson<T> {
  readonly #chunks: Buffer[] = [];
  /** For each value: its chunk, its start in the chunk, and its length in bytes. */
  readonly #chunkOf = new IntList();
  readonly #starts = new IntList();
  readonly #sizes = new IntList();
  /** The number of used bytes of the last chunk. */
  #taken = CHUNK_BYTES;

  get length(): number {
    return this.#sizes.length;
  }

  add(value: T): void {
    const text = JSON.stringify(value);
    const size = Buffer.byteLength(text);
    if (this.#taken + size > CHUNK_BYTES) {
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(size, CHUNK_BYTES)));
      this.#taken = 0;
    }
    this.#chunks.at(-1)?.write(text, this.#taken);
    this.#chunkOf.push(this.#chunks.length - 1);
    this.#starts.push(this.#taken);
    this.#sizes.push(size);
    this.#taken += size;
  }

  at(index: number): T {
    const chunk = this.#chunks[this.#chunkOf.at(index)] as Buffer;
    const start = this.#starts.at(index);
    return JSON.parse(chunk.toString('utf8', start, start + this.#sizes.at(index))) as T;
  }
}
