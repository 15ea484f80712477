/** The standard input of a command comes from a file in the worker's folder. A job without one gets an empty input. */

import { isCommandInput } from '../../api/command-input.ts';
import type { Owner } from '../launcher/command-user.ts';
import { writePlainFile } from './plain-file.ts';

/** Writes the input to `file` and returns a command that reads it from there. Without an input, the command is returned as it is. */
export function withInput(command: string, input: unknown, file: { path: string; owner: Owner | null }): string {
  if (!isCommandInput(input)) return command;
  const bytes = typeof input === 'string' ? Buffer.from(input) : Buffer.from(input.base64, 'base64');
  writePlainFile(file.path, bytes, file.owner);
  // On the command's own line, so that the shell's messages name the right line.
  return `exec <${shellQuoted(file.path)}; ${command}`;
}

export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
