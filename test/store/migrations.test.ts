import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const STORES = join(import.meta.dirname, '..', '..', 'src', 'store');

function migrationsOf(dialect: string): string[] {
  return readdirSync(join(STORES, dialect, 'migrations')).sort();
}

for (const dialect of ['postgres', 'sqlite']) {
  test(`migrations: those of ${dialect} are numbered from 001 without a gap, each number once`, () => {
    const names = migrationsOf(dialect);
    assert.ok(names.length > 0);
    assert.deepEqual(
      names.map((name) => /^(\d{3})_[a-z0-9]+(_[a-z0-9]+)*\.sql$/.exec(name)?.[1] ?? name),
      names.map((_, index) => String(index + 1).padStart(3, '0')),
    );
  });
}

test('migrations: what both share has a number and a name of both', () => {
  const shared = readdirSync(join(STORES, 'migrations'));
  assert.deepEqual(
    shared.filter((name) => !migrationsOf('sqlite').includes(name)),
    [],
  );
});

test('migrations: both dialects have the same numbers under the same names', () => {
  assert.deepEqual(migrationsOf('sqlite'), migrationsOf('postgres'));
});
