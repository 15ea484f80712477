/** Loads a peer from its separate node_modules, which the compiler does not know. */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export const FOLDER = join(import.meta.dirname, '..');

export async function installed<T>(name: string): Promise<T> {
  const require = createRequire(join(FOLDER, 'package.json'));
  return (await import(pathToFileURL(require.resolve(name)).href)) as T;
}
