/** The programs that tests start. */

import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** The sources as they are. For tests in which the program and an application share them. */
export const CLONE = join(root, 'bin', 'workron');

/** What `npm test` has built of the same sources, as that starts with half the processor time; else the sources as they are. */
export const PROGRAM = process.env['WORKRON_TEST_PROGRAM'] ?? CLONE;

/** Builds the program of the sources, in the form of the published package, and returns its path. */
export async function buildProgram(): Promise<string> {
  const { bundleProgram } = await import('../../build/bundle.ts');
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const scratch = mkdtempSync(join(cache, 'program-'));
  const built = join(scratch, 'new');
  mkdirSync(join(built, 'bin'), { recursive: true });
  copyFileSync(CLONE, join(built, 'bin', 'workron'));
  for (const name of ['node_modules', 'dist-ui', 'dist-docs']) symlinkSync(join(root, name), join(built, name));
  await bundleProgram(join(built, 'dist'));
  // Always at the same place: the compiled code of files that have not changed is found again.
  const place = join(cache, 'program');
  mkdirSync(place, { recursive: true });
  renameSync(place, join(scratch, 'old'));
  renameSync(built, place);
  rmSync(scratch, { recursive: true });
  return join(place, 'bin', 'workron');
}
