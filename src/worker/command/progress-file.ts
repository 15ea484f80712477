/** The progress that a command writes to `$WORKRON_PROGRESS`: its last line is a fraction, and a text. */

import type { Progress } from '../../core/job.ts';
import type { Owner } from '../launcher/command-user.ts';
import { readEnd } from './plain-file.ts';

/** A longer line says nothing: of a secret in it, only the end would be there, which is not masked. */
const MAX_BYTES = 4 * 1024;
const LINE = /^(\d+(?:\.\d+)?|\.\d+)(%?)(?:\s+(.*))?$/;

/** Returns the progress in the last complete line; `null` if there is none, or if it is not `0.4 text` or `40% text`. */
export function readProgress(path: string, owner: Owner | null): Progress | null {
  let text: string | null;
  try {
    text = readEnd(path, MAX_BYTES, owner);
  } catch {
    return null;
  }
  const lines = text?.split('\n') ?? [];
  if (text !== null && Buffer.byteLength(text) >= MAX_BYTES) lines.shift();
  const line = lines.findLast((each) => each.trim() !== '')?.trim();
  const [, number, percent, note] = LINE.exec(line ?? '') ?? [];
  if (number === undefined) return null;
  return { fraction: percent === '%' ? Number(number) / 100 : Number(number), text: note || null };
}
