/** Which versions of Workron may use one database. A database says which code it needs; each program says which it is. */

import { WorkronError } from '../core/error.ts';

/** The number of this code. It rises with every migration. */
const CODE = 1;

/**
 * The oldest code that may share a database with this one. It rises when a migration, or what this code writes, would make
 * older code do harm.
 */
export const OLDEST_SHARED_CODE = 1;

/** Throws `incompatible_schema` if a database needs newer code than this. `place` is how the message names the database. */
export function requireCode(minCode: number, place: string): void {
  if (minCode <= CODE) return;
  throw new WorkronError(
    'incompatible_schema',
    `${place} was migrated by a newer Workron (it needs code ${minCode}, this is code ${CODE}); ` +
      'install that version here, or restore a backup from before the upgrade',
  );
}
