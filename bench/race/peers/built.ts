/** Workron as it is published: compiled, as the peers are. Started from TypeScript, each process and thread reads that first. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Published from '../../../src/index.ts';
import { FOLDER } from './installed.ts';

const ROOT = join(FOLDER, '..', '..');
/** What `workron` starts. */
export const MAIN = join(ROOT, 'dist', 'cli.js');

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
