/** The structure of the source: who may import whom, and what core and the SQL stores must not do. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { statements } from '../src/store/postgres/base/sql.ts';
import { sql } from '../src/store/sqlite/base/sql.ts';

const root = join(import.meta.dirname, '..');
const src = join(root, 'src');

/** The folders from which each folder of src may import, besides itself. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  api: ['core'],
  ops: ['core'],
  store: ['core', 'ops'],
  scheduler: ['core', 'api', 'ops'],
  worker: ['core', 'api', 'ops'],
  http: ['core', 'api', 'ops', 'scheduler'],
  node: ['core', 'api', 'ops', 'store', 'scheduler', 'worker', 'http'],
  library: ['core', 'api', 'ops', 'store', 'scheduler', 'worker', 'http', 'node'],
  cli: ['core', 'api', 'ops', 'store', 'scheduler', 'worker', 'http', 'node', 'library'],
};

/** The contract of a store: the only files of store/ that scheduler, http and the contract suite may import. */
const CONTRACT = /^store\/(store|hint|[a-z]+-store)\.ts$/;

const DRIVERS = ['memory', 'sqlite', 'postgres'];

/** Returns the relative imports of a file, as paths from `folder`. */
function importsOf(file: string, folder = src): string[] {
  const text = readFileSync(join(folder, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path]) =>
    relative(folder, join(folder, dirname(file), path as string)),
  );
}

test('architecture: a folder imports only from the folders it is allowed to', () => {
  const wrong: string[] = [];
  for (const file of globSync('**/*.ts', { cwd: src })) {
    const folder = file.split('/')[0] as string;
    const allowed = MAY_IMPORT[folder];
    if (allowed === undefined) continue;
    for (const target of importsOf(file)) {
      const other = target.split('/')[0] as string;
      const toContract = CONTRACT.test(target) && ['scheduler', 'http'].includes(folder);
      if (other !== folder && !allowed.includes(other) && !toContract) wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('architecture: a driver imports no other, but memory SQLite, and what the drivers share imports none', () => {
  const driverOf = (file: string) => DRIVERS.find((driver) => file.startsWith(`store/${driver}/`));
  const wrong: string[] = [];
  for (const file of globSync('store/**/*.ts', { cwd: src })) {
    for (const target of importsOf(file)) {
      const other = driverOf(target);
      if (driverOf(file) === 'memory' && other === 'sqlite') continue;
      if (other !== undefined && other !== driverOf(file)) wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('architecture: the contract suite imports core, ops, scheduler and the store contract, and no driver', () => {
  /** The store that the suite is published with, for callers who compare with it. No test of the suite imports it. */
  const REFERENCE = 'contract/kit/memory.ts imports src/store/memory/open.ts';
  const wrong: string[] = [];
  for (const file of globSync('contract/**/*.ts', { cwd: root })) {
    for (const target of importsOf(file, root)) {
      const inSrc = relative('src', target);
      const isAllowed = /^(contract|src\/(core|ops|scheduler))\//.test(target) || CONTRACT.test(inSrc);
      if (!isAllowed) wrong.push(`${file} imports ${target}`);
      if (target === 'contract/kit/memory.ts' && file !== 'contract/index.ts') wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, [REFERENCE]);
});

test('architecture: the dashboard imports from src/api only', () => {
  const wrong: string[] = [];
  for (const file of globSync('ui/src/**/*.{ts,tsx}', { cwd: root })) {
    for (const target of importsOf(file, root)) {
      if (!target.startsWith('ui/src/') && !target.startsWith('src/api/')) wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('architecture: core uses no clock, timer, random number or Node module', () => {
  const wrong: string[] = [];
  for (const file of globSync('core/**/*.ts', { cwd: src })) {
    const text = readFileSync(join(src, file), 'utf8');
    if (/\b(Date\.now|new Date\(\)|setTimeout|setInterval|Math\.random)\b/.test(text) || /from 'node:/.test(text))
      wrong.push(file);
  }
  assert.deepEqual(wrong, []);
});

test('architecture: the engine waits for nothing but statements: no timer, dynamic import or Node module', () => {
  const waits = /\b(setTimeout|setInterval|setImmediate|nextTick|fetch|import)\(|\bAtomics\./;
  const wrong = globSync('store/{engine,sql}/**/*.ts', { cwd: src }).filter((file) => {
    const text = readFileSync(join(src, file), 'utf8');
    return waits.test(text) || staticImportsOf(file).some((target) => !target.startsWith('.'));
  });
  assert.deepEqual(wrong, []);
});

/** The names of the statements of a database, by theme. */
async function statementsOf(dialect: 'sqlite' | 'postgres'): Promise<string[]> {
  const themes = globSync(`store/${dialect}/sql/*.ts`, { cwd: src });
  const modules = await Promise.all(themes.map(async (file) => (await import(join(src, file))) as object));
  return modules
    .flatMap((module) => Object.entries(module))
    .flatMap(([name, found]: [string, unknown]) => {
      if (!name.endsWith('Sql')) return [];
      return Object.keys(typeof found === 'function' ? (found('s') as object) : (found as object));
    });
}

test('architecture: no statement of a database hides another one of the same name', async () => {
  assert.deepEqual((await statementsOf('sqlite')).sort(), Object.keys(sql).sort());
  assert.deepEqual((await statementsOf('postgres')).sort(), Object.keys(statements('s')).sort());
});

test('architecture: parsing a command line loads commander and no other package', () => {
  const entries = ['cli/main.ts', ...globSync('cli/commands/*.ts', { cwd: src })];
  assert.deepEqual([...packagesBehind(entries)], ['commander']);
});

test('architecture: no file imports node:http statically', () => {
  const files = globSync('**/*.ts', { cwd: src });
  const wrong = files.filter((file) => staticImportsOf(file).some((target) => /^node:https?$/.test(target)));
  assert.deepEqual(wrong, []);
});

/** The static imports of a file, without type imports. */
function staticImportsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  return [...text.matchAll(/^(?:import|export)\s(?!type\s)(?:[^;']*?\sfrom\s)?'([^']+)';/gm)].map(
    ([, to]) => to as string,
  );
}

function packagesBehind(entries: readonly string[]): Set<string> {
  const packages = new Set<string>();
  const files = new Set(entries);
  for (const file of files) {
    for (const target of staticImportsOf(file)) {
      if (target.startsWith('.')) files.add(join(dirname(file), target));
      else if (!target.startsWith('node:')) packages.add(target);
    }
  }
  return packages;
}
