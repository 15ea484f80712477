/** Large JSON arrays, item by item, so that one request never holds up the others for long. */

import { WorkronError } from '../core/error.ts';
import { parseJson } from './read-json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const ARRAY_OPEN = 0x5b;
const ARRAY_CLOSE = 0x5d;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;

/** How long to work before others get their turn. */
const TURN_MS = 10;

export interface ArrayLimits {
  mostItems: number;
  mostBytesPerItem: number;
}

/** Decodes each item of the array in `bytes`, in order, letting others have their turn in between. */
export async function mapJsonArray<T>(
  bytes: Buffer,
  limits: ArrayLimits,
  decodeItem: (item: unknown, index: number) => T,
): Promise<T[]> {
  const decoded: T[] = [];
  let turnEnds = performance.now() + TURN_MS;
  for (const item of splitArray(bytes, limits.mostBytesPerItem)) {
    if (decoded.length >= limits.mostItems) {
      throw new WorkronError('payload_too_large', `At most ${limits.mostItems} items in one request`);
    }
    decoded.push(decodeItem(parseJson(item, `/${decoded.length}`), decoded.length));
    if (performance.now() >= turnEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      turnEnds = performance.now() + TURN_MS;
    }
  }
  return decoded;
}

/** The text of each item. Only the outermost structure is looked at: the items are still to be parsed. */
function* splitArray(bytes: Buffer, mostBytesPerItem: number): Generator<Buffer> {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== ARRAY_OPEN) throw malformed(at, 'expected [');
  at += 1;
  let start = at;
  let depth = 0;
  let count = 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) {
      depth += 1;
    } else if (depth > 0) {
      if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth -= 1;
    } else if (byte === COMMA) {
      yield itemAt(bytes, start, at);
      count += 1;
      start = at + 1;
    } else if (byte === ARRAY_CLOSE) {
      const empty = count === 0 && skipSpace(bytes, start) === at;
      if (!empty) yield itemAt(bytes, start, at);
      const rest = skipSpace(bytes, at + 1);
      if (rest < bytes.length) throw malformed(rest, 'expected nothing after the array');
      return;
    }
    if (at - start > mostBytesPerItem) {
      throw new WorkronError('payload_too_large', `/${count}: one item may have at most ${mostBytesPerItem} bytes`);
    }
  }
  throw malformed(bytes.length, 'the array does not end');
}

function itemAt(bytes: Buffer, start: number, end: number): Buffer {
  if (skipSpace(bytes, start) >= end) throw malformed(end, 'expected an item');
  return bytes.subarray(start, end);
}

/** The index of the quote that ends the string; the last index where none does. */
function endOfString(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (at !== -1) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return bytes.length - 1;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function malformed(at: number, detail: string): WorkronError {
  return new WorkronError('bad_request', `The body is not valid JSON at byte ${at}: ${detail}`, {
    errors: [{ pointer: '', detail: `not valid JSON at byte ${at}: ${detail}` }],
  });
}
