import { IntList } from '../../core/int-list.ts';

/** How many bytes are asked for at a time. */
const CHUNK_BYTES = 256 * 1024;

/**
 * A long list of JSON values of which one at a time is looked at. They lie as text outside of the heap, where they cost
 * little more than they did in a request; each look makes a new value.
 */
export class PackedJson<T> {
  readonly #chunks: Buffer[] = [];
  /** Of each value: its chunk, where in it it begins, and its length in bytes. */
  readonly #chunkOf = new IntList();
  readonly #starts = new IntList();
  readonly #sizes = new IntList();
  /** Bytes of the last chunk that are taken. */
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
