/** Files that a command reads; `-` is standard input. */

import { fstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { CommandInput } from '../../api/command-input.ts';
import { systemErrorText } from '../../ops/system-error.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';

export async function readInput(path: string): Promise<Buffer> {
  if (path === '-') return buffer(process.stdin);
  try {
    return await readFile(path);
  } catch (error) {
    throw usageError(`cannot read ${path}: ${systemErrorText(error)}`);
  }
}

/** The name of a file in messages. */
export function nameOfInput(path: string): string {
  return path === '-' ? 'stdin' : path;
}

const MAX_BYTES = 1024 * 1024;
/** A pipe that stays open for longer than this may not be meant for the job. */
const NOTE_AFTER_MS = 2_000;

/**
 * Reads standard input to its end if it is a pipe or a file; `undefined` if it is anything else, such as a terminal, or
 * empty. A socket is not read: programs that start others often leave one open that never ends.
 */
export async function readStandardInput(): Promise<CommandInput | undefined> {
  const input = fstatSync(process.stdin.fd);
  if (!input.isFIFO() && !input.isFile()) return undefined;
  const waiting = setTimeout(
    () => note('reading standard input to its end for the job; `< /dev/null` gives it none'),
    NOTE_AFTER_MS,
  );
  try {
    const bytes = await readUpTo(MAX_BYTES);
    return bytes.length === 0 ? undefined : commandInput(bytes);
  } finally {
    clearTimeout(waiting);
  }
}

async function readUpTo(max: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > max)
      throw usageError(
        'standard input is larger than 1 MiB; nothing was submitted',
        'put it where the worker can read it, and name the file in the command',
      );
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** As text if it is one: requests must not contain NUL. */
function commandInput(bytes: Buffer): CommandInput {
  const text = bytes.toString('utf8');
  return text.includes('\0') || !Buffer.from(text).equals(bytes) ? { base64: bytes.toString('base64') } : text;
}
