import { lstatSync } from 'node:fs';
import { WorkronError } from '../core/error.ts';

/** True if something is there: also a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Throws `bad_request` if something is where a file is to be made. */
export function requireNew(path: string): void {
  if (isThere(path)) throw new WorkronError('bad_request', `${path} exists already; name another file`);
}
