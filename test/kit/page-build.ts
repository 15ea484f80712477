/** Builds the dashboard with Vite if the build is missing or older than its sources. */

import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export function buildPage(): void {
  const built = timeOf(join(root, 'dist-ui', 'index.html'));
  const sources = globSync('{ui/**/*.{ts,tsx,css,html,js,svg},src/{api,core}/**/*.ts}', { cwd: root });
  if (sources.every((file) => timeOf(join(root, file)) <= built)) return;
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'build:ui'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`Could not build the dashboard:\n${stderr}`);
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
