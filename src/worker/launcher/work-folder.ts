/** A worker's temporary files: pipes and result files, in a folder that nobody else can enter and a sweep can find. */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf } from './process-table.ts';

const NAME = /^workron-(\d+\.\d+\.\d+)-\w+$/;

export function makeWorkFolder(): string {
  return mkdtempSync(join(tmpdir(), `workron-${identityOf(process.pid)}-`));
}

/** The process that made a folder of this name; `undefined`: not one of ours. */
export function ownerOfFolder(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}
