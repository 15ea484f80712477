/** The duration in `$WORKRON_RETRY_AFTER`: when a command wants to run again. */

import { parseDuration } from '../../core/duration.ts';
import { messageOf } from '../../core/error.ts';
import { cleanText } from '../../core/text.ts';
import type { Owner } from '../launcher/command-user.ts';
import { readEnd, removeFile } from './plain-file.ts';

const MAX_BYTES = 1024;
/** As long as a delay of a handler can be. */
const MAX_MS = 365 * 86_400_000;

/** Reads and removes the file. `null`: there is none; an error if it does not hold a duration, in which `mask` hides secrets. */
export function takeRetryAfter(
  path: string,
  owner: Owner | null,
  mask: (text: string) => string,
): { delayMs: number } | { error: string } | null {
  try {
    const read = readEnd(path, MAX_BYTES, owner);
    if (read === null) return null;
    removeFile(path);
    const text = read.trim();
    if (text === '') return null;
    const delayMs = parseDuration(text);
    if (delayMs !== undefined && delayMs <= MAX_MS) return { delayMs };
    const isCut = Buffer.byteLength(read) >= MAX_BYTES;
    const got = isCut ? 'more' : JSON.stringify(cleanText(mask(text).slice(0, 100)).toWellFormed());
    return { error: `$WORKRON_RETRY_AFTER: expected a duration such as 30s, at most 365d, got ${got}` };
  } catch (error) {
    removeFile(path);
    return { error: `$WORKRON_RETRY_AFTER ${messageOf(error)}` };
  }
}
