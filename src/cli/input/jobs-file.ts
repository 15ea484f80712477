/** Jobs from a file: a JSON object, an array, or one object a line. */

import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { CliError, usageError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';

/** What the file says, ready to be sent. The server judges it. */
export async function jobsFromFile(path: string): Promise<unknown> {
  const content = await read(path);
  if (content.trim() === '') throw usageError(`${nameOf(path)} is empty`);
  try {
    return JSON.parse(content) as unknown;
  } catch (error) {
    const lines = content.split('\n').filter((line) => line.trim() !== '');
    if (lines.length > 1 && lines[0]?.trimEnd().endsWith('}'))
      return lines.map((line, index) => parseLine(path, line, index));
    throw usageError(`${nameOf(path)} is not JSON: ${(error as Error).message}`);
  }
}

function parseLine(path: string, line: string, index: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    throw usageError(`${nameOf(path)}, line ${index + 1}: ${(error as Error).message}`);
  }
}

async function read(path: string): Promise<string> {
  if (path === '-') return readAll(process.stdin);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(EXIT.notFound, `cannot read ${path}: ${(error as Error).message}`);
  }
}

function nameOf(path: string): string {
  return path === '-' ? 'stdin' : path;
}
