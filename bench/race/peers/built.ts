/** Workron as it is published: compiled, as the peers are. Loading TypeScript would slow down every process and thread. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Published from '../../../src/index.ts';
import { FOLDER } from './installed.ts';

const ROOT = join(FOLDER, '..', '..');
/** The entry of the `workron` command. */
export const MAIN = join(ROOT, 'dist', 'cli', 'main.js');

export function buildWorkron(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('Workron could not be built');
}

export async function built(): Promise<typeof Published> {
  return (await import(pathToFileURL(join(ROOT, 'dist', 'index.js')).href)) as typeof Published;
}
