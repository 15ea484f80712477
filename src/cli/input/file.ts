/** Files that a command reads; `-` is standard input. */

import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { systemErrorText } from '../../ops/system-error.ts';
import { usageError } from '../errors/cli-error.ts';

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
