/** The folder for a worker's temporary files. Only its user can enter it, and a sweep finds it by its name. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from './process-table.ts';

const NAME = /^workron-(\d+\.\d+\.\d+)-\w+$/;

export function makeWorkFolder(): string {
  return mkdtempSync(join(tmpdir(), `workron-${identityOf(process.pid)}-`));
}

/** The process that made a folder of this name; `undefined` if it is not a worker's folder. */
export function ownerOfFolder(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}
