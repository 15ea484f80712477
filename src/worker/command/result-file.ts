/** The result that a command writes to `$WORKRON_OUTPUT`: `key=value` lines, or one JSON document. */

import { closeSync, readFileSync } from 'node:fs';
import { messageOf } from '../../core/error.ts';
import { MAX_RESULT_BYTES } from '../../core/outcome.ts';
import { cleanJson, cleanText } from '../../core/text.ts';
import type { Owner } from '../launcher/command-user.ts';
import { openPlainFile, removeFile } from './plain-file.ts';

type ReadResult = { ok: true; result: unknown } | { ok: false; error: string };

/** Reads and removes the file; `result` is `undefined` if there is none. `mask`: hides secrets in what an error quotes. */
export function takeResult(path: string, owner: Owner | null, mask: (text: string) => string): ReadResult {
  let file: ReturnType<typeof openPlainFile>;
  try {
    file = openPlainFile(path, owner);
  } catch (error) {
    removeFile(path);
    return { ok: false, error: `$WORKRON_OUTPUT ${messageOf(error)}` };
  }
  if (file === null) return { ok: true, result: undefined };
  const { fd, stat } = file;
  try {
    if (stat.size > MAX_RESULT_BYTES) {
      return { ok: false, error: `the result in $WORKRON_OUTPUT has ${stat.size} bytes; expected at most 1 MiB` };
    }
    return parseResult(readFileSync(fd, 'utf8'), mask);
  } catch (error) {
    return { ok: false, error: `$WORKRON_OUTPUT cannot be read: ${String(error)}` };
  } finally {
    closeSync(fd);
    removeFile(path);
  }
}

/** A first line of the form `key=value` means lines; all else must be JSON. */
function parseResult(text: string, mask: (text: string) => string): ReadResult {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const first = lines.find((line) => line.trim() !== '');
  if (first === undefined) return { ok: true, result: undefined };
  if (/^[A-Za-z_][\w.-]*=/.test(first)) return parseLines(lines, mask);
  try {
    return { ok: true, result: cleanJson(JSON.parse(text)) };
  } catch {
    return { ok: false, error: `$WORKRON_OUTPUT holds neither key=value lines nor JSON: ${quoted(mask(first))}` };
  }
}

function parseLines(lines: readonly string[], mask: (text: string) => string): ReadResult {
  const result: Record<string, string> = {};
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const [, key, value] = /^([A-Za-z_][\w.-]*)=(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined || key === '__proto__') {
      return { ok: false, error: `$WORKRON_OUTPUT, line ${index + 1}: expected key=value, got ${quoted(mask(line))}` };
    }
    result[key] = cleanText(value);
  }
  return { ok: true, result };
}

function quoted(line: string): string {
  return JSON.stringify(cleanText(line.slice(0, 100)).toWellFormed());
}
