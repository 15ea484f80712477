/** Passes a command, an item and parameters in files if they are too long for an argument or a variable. */

import { fileVariable } from '../../api/workflow/names.ts';
import type { Owner } from '../launcher/command-user.ts';
import { writePlainFile } from './plain-file.ts';
import { shellQuoted } from './standard-input.ts';

/** Linux refuses a single argument or variable of 128 KiB or more. */
const MAX_TEXT_BYTES = 100 * 1024;
/** With the usual stack size, Linux refuses an environment of more than 2 MiB. */
const MAX_TOTAL_BYTES = 512 * 1024;

const MAY_BE_LONG = /^WORKRON_(?:ITEM$|PARAM_)/;

/** Returns the argument for `sh -c`: the command, or, if it is too long, a command that sources `file`. */
export function shellArgument(command: string, file: string, owner: Owner | null): string {
  if (Buffer.byteLength(command) <= MAX_TEXT_BYTES) return command;
  writePlainFile(file, command, owner);
  return `. ${shellQuoted(file)}`;
}

interface Shortened {
  variables: Record<string, string>;
  /** The files that were written. */
  files: string[];
}

/**
 * Writes an item or parameter that the environment cannot hold to a file, byte for byte. Its variable is unset, and
 * `WORKRON_FILE_ITEM` or `WORKRON_FILE_PARAM_<NAME>` holds the path. File names begin with `prefix`.
 */
export function shortenVariables(
  variables: Readonly<Record<string, string>>,
  prefix: string,
  owner: Owner | null,
): Shortened {
  const shortened = { variables: { ...variables }, files: [] as string[] };
  let left = MAX_TOTAL_BYTES;
  for (const name of Object.keys(variables)
    .filter((name) => MAY_BE_LONG.test(name))
    .sort(itemFirst)) {
    const value = variables[name] as string;
    const bytes = Buffer.byteLength(value);
    if (bytes <= MAX_TEXT_BYTES && bytes <= left) {
      left -= bytes;
      continue;
    }
    const file = `${prefix}-${shortened.files.length}`;
    writePlainFile(file, value, owner);
    shortened.files.push(file);
    delete shortened.variables[name];
    shortened.variables[fileVariable(name)] = file;
  }
  return shortened;
}

/** The item has priority for the space in the environment; the others keep their order. */
function itemFirst(a: string, b: string): number {
  return Number(b === 'WORKRON_ITEM') - Number(a === 'WORKRON_ITEM');
}
