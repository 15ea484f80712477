/** Names in workflow files, and the environment variables that commands find them under. */

import { z } from 'zod';

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const NAME_MESSAGE = 'expected a name of letters, digits, _ and - that begins with a letter or _, at most 128 long';

export const workflowKey = z.string(NAME_MESSAGE).regex(NAME, NAME_MESSAGE);

/** Names that begin so are Workron's own. */
export const RESERVED_PREFIX = 'WORKRON_';
const FILE_PREFIX = 'WORKRON_FILE_';
export const ITEM_VARIABLES = ['WORKRON_ITEM', 'WORKRON_INDEX'] as const;

/** `WORKRON_PARAM_START_DATE` for `start-date`. */
export function paramVariable(param: string): string {
  return `WORKRON_PARAM_${inCapitals(param)}`;
}

/** Where a command finds an item or a parameter that no variable can hold: `WORKRON_FILE_ITEM` for `WORKRON_ITEM`. */
export function fileVariable(variable: string): string {
  return variable.replace(RESERVED_PREFIX, FILE_PREFIX);
}

/** The variable that such a one stands for; any other is itself. */
export function plainVariable(variable: string): string {
  return variable.replace(FILE_PREFIX, RESERVED_PREFIX);
}

/** What the variables with the results of a parent begin with: `WORKRON_PARENT_EXTRACT_` for `extract`. */
export function parentPrefix(key: string): string {
  return `WORKRON_PARENT_${inCapitals(key)}_`;
}

/** `WORKRON_PARENT_EXTRACT_ROW_COUNT` for `row.count` of `extract`. */
export function parentVariable(key: string, resultKey: string): string {
  return parentPrefix(key) + inCapitals(resultKey);
}

/** Names of jobs and keys of results may hold anything; variables may not. */
function inCapitals(name: string): string {
  return name.toUpperCase().replace(/[^A-Z0-9_]/g, '_');
}
