/** Decodes large JSON arrays item by item, so that one request never blocks the others for long. */

import { WorkronError } from '../core/error.ts';
import {
  ARRAY_CLOSE,
  ARRAY_OPEN,
  COMMA,
  endOfString,
  malformed,
  OBJECT_CLOSE,
  OBJECT_OPEN,
  QUOTE,
  skipSpace,
} from './json-scan.ts';
import { parseJson } from './read-json.ts';

/** The time after which other requests get their turn. */
const TURN_MS = 10;

export interface ArrayLimits {
  maxItems: number;
  maxBytesPerItem: number;
  /** The JSON pointer of the array in the request; the whole body unless given. */
  at?: string;
}

/** Decodes each item of the array in `bytes`, in order, and lets other requests have their turn in between. */
export async function mapJsonArray<T>(
  bytes: Buffer,
  limits: ArrayLimits,
  decodeItem: (item: unknown, index: number) => T,
): Promise<T[]> {
  const decoded: T[] = [];
  await walkJsonArray(bytes, limits, (item, index) => decoded.push(decodeItem(item, index)));
  return decoded;
}

/** Calls `take` with each item of the array, for callers that do not keep the items. */
export async function walkJsonArray(
  bytes: Buffer,
  limits: ArrayLimits,
  take: (item: unknown, index: number) => void,
): Promise<void> {
  let turnEnds = performance.now() + TURN_MS;
  const place = limits.at ?? '';
  let index = 0;
  for (const item of splitArray(bytes, limits.maxBytesPerItem, place)) {
    if (index >= limits.maxItems) {
      throw new WorkronError('payload_too_large', `At most ${limits.maxItems} items in one request`);
    }
    take(parseJson(item, `${place}/${index}`), index);
    index += 1;
    if (performance.now() >= turnEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      turnEnds = performance.now() + TURN_MS;
    }
  }
}

/** Yields the text of each item. It checks only the outermost structure; the items are parsed later. */
function* splitArray(bytes: Buffer, maxBytesPerItem: number, place: string): Generator<Buffer> {
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
    if (at - start > maxBytesPerItem) {
      throw new WorkronError(
        'payload_too_large',
        `${place}/${count}: one item may have at most ${maxBytesPerItem} bytes`,
      );
    }
  }
  throw malformed(bytes.length, 'the array does not end');
}

function itemAt(bytes: Buffer, start: number, end: number): Buffer {
  if (skipSpace(bytes, start) >= end) throw malformed(end, 'expected an item');
  return bytes.subarray(start, end);
}
