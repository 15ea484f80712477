/** Masks secrets in what jobs print and return. */

import { MIN_SECRET_LENGTH } from './secret.ts';

export const MASK = '***';
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Replaces the values in a text. */
export function maskText(text: string, values: readonly string[]): string {
  return textWithout(text, new Values(values));
}

/** Replaces the values in all texts of a JSON value, its keys included. A number that shows one, or is one rounded, becomes `***`. */
export function maskJson(value: unknown, values: readonly string[]): unknown {
  const numbers = new Set(values.map((each) => Math.abs(Number(each))).filter(isLong));
  return jsonWithout(value, new Values(values), numbers);
}

/** A shorter number may be anything, such as 0 for a secret of zeros. */
function isLong(number: number): boolean {
  return String(number).length >= MIN_SECRET_LENGTH;
}

function jsonWithout(value: unknown, values: Values, numbers: ReadonlySet<number>): unknown {
  if (typeof value === 'string') return textWithout(value, values);
  if (typeof value === 'number') {
    return numbers.has(Math.abs(value)) || textWithout(String(value), values) !== String(value) ? MASK : value;
  }
  const inner = (item: unknown): unknown => jsonWithout(item, values, numbers);
  if (Array.isArray(value)) return value.map(inner);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [textWithout(key, values), inner(item)]));
}

function textWithout(text: string, values: Values): string {
  const stream = new MaskStream(values);
  const parts = [stream.push(encoder.encode(text)), stream.end()];
  // A text without them is returned as it is: not every text can be encoded.
  return stream.hasMasked ? decoder.decode(Buffer.concat(parts)) : text;
}

/** Replaces values in bytes that arrive in chunks, wherever the chunks are cut. Values that overlap are replaced together. */
export class MaskStream {
  readonly #values: Values;
  /** The beginning of a value with which the bytes end, as a node of `#values`. */
  #node = 0;
  /** How many bytes have arrived. */
  #arrived = 0;
  /** How many of them were returned or replaced. */
  #done = 0;
  /** Where values are that were found and not replaced yet, in order and without overlaps. */
  #found: { from: number; to: number }[] = [];
  /** The end of the last value that was replaced; 0: none was. */
  #maskedTo = 0;

  constructor(values: readonly string[] | Values) {
    this.#values = values instanceof Values ? values : new Values(values);
  }

  get hasMasked(): boolean {
    return this.#maskedTo > 0;
  }

  /**
   * Returns what can be written. What may be the beginning of a value is held back until it is clear whether the rest follows, also
   * if it contains a shorter value. The chunk is not used after the call.
   */
  push(chunk: Uint8Array): Uint8Array {
    const values = this.#values;
    const held = values.beginningOf(this.#node);
    const start = this.#arrived;
    let node = this.#node;
    for (let at = 0; at < chunk.length; at += 1) {
      if (node === 0) at = values.skip(chunk, at);
      if (at === chunk.length) break;
      node = values.next(node, chunk[at] as number);
      const length = values.lengthAt(node);
      if (length > 0) this.#add(start + at + 1 - length, start + at + 1);
    }
    this.#node = node;
    this.#arrived += chunk.length;
    return this.#release(this.#arrived - values.beginningOf(node).length, { held, chunk, start });
  }

  /** Returns what was held back. */
  end(): Uint8Array {
    const held = this.#values.beginningOf(this.#node);
    this.#node = 0;
    return this.#release(this.#arrived, { held, chunk: new Uint8Array(), start: this.#arrived });
  }

  /** Values are found in the order of their ends. */
  #add(from: number, to: number): void {
    let first = from;
    for (let last = this.#found.at(-1); last !== undefined && last.to > first; last = this.#found.at(-1)) {
      first = Math.min(first, last.from);
      this.#found.pop();
    }
    this.#found.push({ from: first, to });
  }

  /** Returns what is before `end`. The bytes are those of `held`, up to `start`, and then those of `chunk`. */
  #release(end: number, { held, chunk, start }: { held: Uint8Array; chunk: Uint8Array; start: number }): Uint8Array {
    const parts: Uint8Array[] = [];
    const show = (to: number): void => {
      const [from, split] = [this.#done - start, to - start];
      if (from < 0) parts.push(held.subarray(held.length + from, held.length + Math.min(0, split)));
      if (split > 0) parts.push(chunk.subarray(Math.max(0, from), split));
    };
    const count = this.#found.findIndex(({ from }) => from >= end);
    for (const { from, to } of this.#found.splice(0, count === -1 ? this.#found.length : count)) {
      // One that overlaps the last one is a part of the same `***`.
      if (from >= this.#maskedTo) {
        if (from > this.#done) show(from);
        parts.push(encoder.encode(MASK));
      }
      this.#maskedTo = to;
      this.#done = to;
    }
    if (end > this.#done) {
      show(end);
      this.#done = end;
    }
    return Buffer.concat(parts);
  }
}

/**
 * Finds all values, with and without spaces around them, in one pass over the bytes, by the algorithm of Aho and Corasick. A node is a
 * beginning of a value; 0 is the empty one.
 */
class Values {
  /** The node after another and a byte. */
  readonly #next = new Map<number, number>();
  /** By node: the longest other beginning of a value with which it ends. */
  readonly #links = [0];
  /** By node: the length of the longest value with which it ends; 0: none. */
  readonly #lengths = [0];
  readonly #beginnings: Uint8Array[] = [new Uint8Array()];
  readonly #isFirst = new Uint8Array(256);

  constructor(values: readonly string[]) {
    const trimmed = values.map((value) => value.trim()).filter(({ length }) => length >= MIN_SECRET_LENGTH);
    let open = [...new Set([...values, ...trimmed])].map((value) => ({ bytes: encoder.encode(value), node: 0 }));
    for (let depth = 0; open.length > 0; depth += 1) {
      open = open.filter(({ bytes }) => bytes.length > depth);
      for (const value of open) {
        value.node = this.#child(value.node, value.bytes.subarray(0, depth + 1));
        if (value.bytes.length === depth + 1) this.#lengths[value.node] = depth + 1;
      }
    }
  }

  #child(node: number, beginning: Uint8Array): number {
    const byte = beginning.at(-1) as number;
    const key = node * 256 + byte;
    const known = this.#next.get(key);
    if (known !== undefined) return known;
    // Shorter beginnings are all there by now, and this one is not yet among them.
    const link = node === 0 ? 0 : this.next(this.#links[node] as number, byte);
    if (node === 0) this.#isFirst[byte] = 1;
    const child = this.#beginnings.push(beginning) - 1;
    this.#links.push(link);
    this.#lengths.push(this.#lengths[link] as number);
    this.#next.set(key, child);
    return child;
  }

  /** The longest beginning of a value with which the bytes end, after one more byte. */
  next(node: number, byte: number): number {
    for (let from = node; ; from = this.#links[from] as number) {
      const found = this.#next.get(from * 256 + byte);
      if (found !== undefined) return found;
      if (from === 0) return 0;
    }
  }

  lengthAt(node: number): number {
    return this.#lengths[node] as number;
  }

  beginningOf(node: number): Uint8Array {
    return this.#beginnings[node] as Uint8Array;
  }

  /** The index of the first byte, from `at` on, with which a value begins. */
  skip(bytes: Uint8Array, at: number): number {
    let found = at;
    while (found < bytes.length && this.#isFirst[bytes[found] as number] === 0) found += 1;
    return found;
  }
}
