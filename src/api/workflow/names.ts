/** Names in workflow files, and their environment variables in commands. */

import { z } from 'zod';

export const MAX_NAME_LENGTH = 128;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const NAME_MESSAGE = 'expected a name of letters, digits, _ and - that begins with a letter or _, at most 128 long';

export const workflowKey = z.string(NAME_MESSAGE).regex(NAME, NAME_MESSAGE);

/** Names with this prefix are reserved. */
export const RESERVED_PREFIX = 'WORKRON_';
const FILE_PREFIX = 'WORKRON_FILE_';
export const ITEM_VARIABLES = ['WORKRON_ITEM', 'WORKRON_INDEX'] as const;

/** Returns `WORKRON_PARAM_START_DATE` for `start-date`. */
export function paramVariable(param: string): string {
  return `WORKRON_PARAM_${inCapitals(param)}`;
}

/** Returns the variable with the path of a file, for values that are too large for a variable: `WORKRON_FILE_ITEM` for `WORKRON_ITEM`. */
export function fileVariable(variable: string): string {
  return variable.replace(RESERVED_PREFIX, FILE_PREFIX);
}

/** Returns the plain variable for one of `fileVariable`; any other is returned as it is. */
export function plainVariable(variable: string): string {
  return variable.replace(FILE_PREFIX, RESERVED_PREFIX);
}

/** Returns the prefix of the variables with the results of a parent: `WORKRON_PARENT_EXTRACT_` for `extract`. */
export function parentPrefix(key: string): string {
  return `WORKRON_PARENT_${inCapitals(key)}_`;
}

/** Returns `WORKRON_PARENT_EXTRACT_ROW_COUNT` for `row.count` of `extract`. */
export function parentVariable(key: string, resultKey: string): string {
  return parentPrefix(key) + inCapitals(resultKey);
}

/** Names of jobs and keys of results may contain any character; variables may not. */
function inCapitals(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9_]/g, '_');
}
