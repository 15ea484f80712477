/** Files that a command reads; `-` is standard input. */

import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';

export async function readInput(path: string): Promise<Buffer> {
  if (path === '-') return buffer(process.stdin);
  try {
    return await readFile(path);
  } catch (error) {
    throw new CliError(EXIT.notFound, `cannot read ${path}: ${(error as Error).message}`);
  }
}

/** The name of a file in messages. */
export function nameOfInput(path: string): string {
  return path === '-' ? 'stdin' : path;
}
