/** Scans the outermost structure of JSON that is too large to be parsed at once. */

import { WorkronError } from '../core/error.ts';

export const QUOTE = 0x22;
export const COLON = 0x3a;
export const COMMA = 0x2c;
export const ARRAY_OPEN = 0x5b;
export const ARRAY_CLOSE = 0x5d;
export const OBJECT_OPEN = 0x7b;
export const OBJECT_CLOSE = 0x7d;
const BACKSLASH = 0x5c;

/** Returns the index of the quote that ends the string, or the last index if the string does not end. */
export function endOfString(bytes: Buffer, start: number): number {
  let at = bytes.indexOf(QUOTE, start + 1);
  while (at !== -1) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
    at = bytes.indexOf(QUOTE, at + 1);
  }
  return bytes.length - 1;
}

export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] as number)) at += 1;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

export function malformed(at: number, detail: string): WorkronError {
  return new WorkronError('bad_request', `The body is not valid JSON at byte ${at}: ${detail}`, {
    errors: [{ pointer: '', detail: `not valid JSON at byte ${at}: ${detail}` }],
  });
}
