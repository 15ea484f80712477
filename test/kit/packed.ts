/** The npm package as a file, and other versions of Node to try it on. */

import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** Builds the package in `folder/source`, packs it, and returns the path of the tarball. */
export async function packInto(folder: string): Promise<string> {
  const source = join(folder, 'source');
  for (const name of ['package.json', 'README.md', 'LICENSE', 'bin', 'dist-docs', 'dist-ui', 'examples', 'schema']) {
    await cp(join(root, name), join(source, name), { recursive: true });
  }
  await run(process.execPath, [join(root, 'build', 'run.ts'), join(source, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: source });
  return join(folder, stdout.trim().split('\n').at(-1) as string);
}

/** Installs a Node of the given version from the registry, and returns the path of the program. */
export async function nodeOf(folder: string, version: string): Promise<string> {
  const place = join(folder, `node-${version}`);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'package.json'), '{ "private": true }');
  const name = `node-${process.platform}-${process.arch}`;
  await run('npm', ['install', '--ignore-scripts', '--no-save', `${name}@${version}`], { cwd: place });
  return join(place, 'node_modules', name, 'bin', 'node');
}
