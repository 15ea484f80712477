/** Splits large JSON objects into members, so that one request never blocks the others for long. */

import {
  ARRAY_CLOSE,
  ARRAY_OPEN,
  COLON,
  COMMA,
  endOfString,
  malformed,
  OBJECT_CLOSE,
  OBJECT_OPEN,
  QUOTE,
  skipSpace,
} from './json-scan.ts';
import { parseJson } from './read-json.ts';

/** The number of bytes after which other requests get their turn. */
const BYTES_PER_TURN = 1024 * 1024;

/**
 * Returns the text of each member of the object in `bytes`, by name. It checks only the outermost structure; the values
 * are parsed later. Throws `bad_request` if that structure is broken or a name is repeated.
 */
export async function splitJsonObject(bytes: Buffer): Promise<Map<string, Buffer>> {
  const members = new Map<string, Buffer>();
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OBJECT_OPEN) throw malformed(at, 'expected {');
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== OBJECT_CLOSE || members.size > 0) {
    if (bytes[at] !== QUOTE) throw malformed(at, 'expected a name in quotes');
    const colon = skipSpace(bytes, endOfString(bytes, at) + 1);
    if (bytes[colon] !== COLON) throw malformed(colon, 'expected :');
    const name = parseJson(bytes.subarray(at, colon)) as string;
    const end = await endOfValue(bytes, colon + 1);
    if (skipSpace(bytes, colon + 1) >= end) throw malformed(end, 'expected a value');
    if (members.has(name)) throw malformed(at, `${JSON.stringify(name)} is there twice`);
    members.set(name, bytes.subarray(colon + 1, end));
    at = end;
    if (bytes[at] === OBJECT_CLOSE) break;
    at = skipSpace(bytes, at + 1);
  }
  const rest = skipSpace(bytes, at + 1);
  if (rest < bytes.length) throw malformed(rest, 'expected nothing after the object');
  return members;
}

/** Returns the index of the comma or bracket after the value. */
async function endOfValue(bytes: Buffer, from: number): Promise<number> {
  let depth = 0;
  let turnEnds = from + BYTES_PER_TURN;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) depth += 1;
    else if (depth === 0 && (byte === COMMA || byte === OBJECT_CLOSE)) return at;
    else if (byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) depth -= 1;
    if (at >= turnEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      turnEnds = at + BYTES_PER_TURN;
    }
  }
  throw malformed(bytes.length, 'the object does not end');
}
