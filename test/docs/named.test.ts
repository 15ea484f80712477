/** What docs/architecture.md and CONTRIBUTING.md say about tables and files is so. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { readMigrations } from '../../src/store/migration.ts';
import type { Dialect } from '../../src/store/sql/sql.ts';

const root = join(import.meta.dirname, '..', '..');
const architecture = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');

function tablesOf(dialect: Dialect): string[] {
  const text = readMigrations(dialect).map(({ script }) => script);
  const names = text.join('\n').matchAll(/^create (?:unlogged )?table (?:workron\.)?(\w+)/gm);
  return [...names].map(([, name]) => name as string).sort();
}

test('docs: architecture.md lists every table, and says which ones only PostgreSQL has', () => {
  const section = /^## The tables\n(.*?)^###? /ms.exec(architecture)?.[1] ?? assert.fail();
  const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name as string);
  assert.deepEqual(listed.sort(), tablesOf('postgres'));
  assert.deepEqual(
    listed.filter((name) => name !== 'claim' && name !== 'waiter'),
    tablesOf('sqlite'),
  );
});

/** Made by `npm run bench:race`. */
const GENERATED = ['bench/race/node_modules', 'bench/race/out'];

test('docs: every file and folder that the documents name exists', () => {
  const missing: string[] = [];
  for (const file of globSync(['*.md', 'docs/**/*.md'], { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8').replace(/^```.*?^```/gms, '');
    for (const [, path = ''] of text.matchAll(/`((?:src|test|contract|ui|bench|schema|examples|docs)\/[\w./*-]*)`/g)) {
      const found = path.includes('*') ? globSync(path, { cwd: root }).length > 0 : existsSync(join(root, path));
      if (!found && !GENERATED.includes(path)) missing.push(`${file}: ${path}`);
    }
  }
  assert.deepEqual(missing, []);
});

test('docs: a file that is named without its folder is in a folder that the same paragraph names', () => {
  const folders = '{src,test,contract,ui/src,build,bench}';
  const files = globSync(`${folders}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/node_modules/**'] });
  const missing: string[] = [];
  for (const file of globSync(['*.md', 'docs/{architecture,glossary}.md', 'docs/decisions/*.md'], { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8').replace(/^```.*?^```/gms, '');
    for (const paragraph of text.split(/\n\s*\n|\n(?=\d+\. |- |\| )/)) {
      const named = [...paragraph.matchAll(/`((?:src|test|contract|ui|build|bench)\/[\w./*-]*)`/g)];
      const within = named.flatMap(([, path = '']) =>
        globSync(/\.tsx?$/.test(path) ? dirname(path) : path, { cwd: root }).map((folder) => `${folder}/`),
      );
      for (const [, name] of paragraph.matchAll(/`([\w-]+\.tsx?)`/g)) {
        const found = files.filter((path) => basename(path) === name);
        const isThere = found.some((path) => within.length === 0 || within.some((folder) => path.startsWith(folder)));
        if (!isThere) missing.push(`${file}: ${name}`);
      }
    }
  }
  assert.deepEqual(missing, []);
});
