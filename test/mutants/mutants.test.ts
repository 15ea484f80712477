/** Checks that every fault can still be planted: a rename must not break a mutant unnoticed. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MUTANTS, plantIn } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');

test('mutants: every fault can be planted', () => {
  const problems: string[] = [];
  for (const { name, edits } of MUTANTS) {
    const texts = new Map<string, string>();
    for (const edit of edits) {
      try {
        const text = texts.get(edit.file) ?? readFileSync(join(root, edit.file), 'utf8');
        const planted = plantIn(text, edit);
        if (planted === text) problems.push(`${name}: the edit of ${edit.file} changes nothing`);
        texts.set(edit.file, planted);
      } catch (error) {
        problems.push(`${name}: ${(error as Error).message}`);
      }
    }
  }
  assert.deepEqual(problems, []);
});

test('mutants: every test file that must fail exists', () => {
  const missing = MUTANTS.flatMap(({ name, tests }) =>
    tests.filter((file) => !existsSync(join(root, file))).map((file) => `${name}: ${file}`),
  );
  assert.deepEqual(missing, []);
  assert.deepEqual(
    MUTANTS.filter(({ tests }) => tests.length === 0).map(({ name }) => name),
    [],
  );
});

test('mutants: every name is used once', () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length);
});
