import { writeFileSync } from 'node:fs';
import { fileVariable } from '../../api/workflow/names.ts';

/** Linux takes no single variable of 128 KiB or more, and with its usual stack no more than 2 MiB together. */
const MAX_VARIABLE_BYTES = 100 * 1024;
const MAX_TOTAL_BYTES = 512 * 1024;

const MAY_BE_LONG = /^WORKRON_(?:ITEM$|PARAM_)/;

export interface Shortened {
  variables: Record<string, string>;
  /** Those that were written. */
  files: string[];
}

/**
 * An item and parameters that an environment cannot hold are in files instead, byte for byte: the variable is unset, and
 * another (`WORKRON_FILE_ITEM`, `WORKRON_FILE_PARAM_<NAME>`) says where. The files' names begin with `prefix`.
 */
export function shortenVariables(variables: Readonly<Record<string, string>>, prefix: string): Shortened {
  const shortened = { variables: { ...variables }, files: [] as string[] };
  let left = MAX_TOTAL_BYTES;
  for (const name of Object.keys(variables)
    .filter((name) => MAY_BE_LONG.test(name))
    .sort(itemFirst)) {
    const value = variables[name] as string;
    const bytes = Buffer.byteLength(value);
    if (bytes <= MAX_VARIABLE_BYTES && bytes <= left) {
      left -= bytes;
      continue;
    }
    const file = `${prefix}-${shortened.files.length}`;
    writeFileSync(file, value, { mode: 0o600 });
    shortened.files.push(file);
    delete shortened.variables[name];
    shortened.variables[fileVariable(name)] = file;
  }
  return shortened;
}

/** Else in the order that they are in. */
function itemFirst(a: string, b: string): number {
  return Number(b === 'WORKRON_ITEM') - Number(a === 'WORKRON_ITEM');
}
