import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aJob } from '../../../contract/kit/builders.ts';
import { readOne, submitOne } from '../../../contract/kit/steps.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import type { Migration } from '../../../src/store/migration.ts';
import { Database } from '../../../src/store/sqlite/base/database.ts';
import { installedVersion, migrate } from '../../../src/store/sqlite/base/migrate.ts';
import { MIGRATIONS } from '../../../src/store/sqlite/base/migrations.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { aFolder } from '../../kit/sqlite.ts';

test('sqlite: a later migration is applied once, and jobs from before it stay', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const open = () => openSqlite({ file, clock: systemClock, log: silentLog });
  const id = await (async () => {
    await using store = await open();
    return (await submitOne(store, aJob())).id;
  })();
  const later = withMigration("alter table job add column colour text not null default 'red'");
  {
    using database = new Database(file, { readOnly: false });
    assert.equal(installedVersion(database, file), 1);
    migrate(database, 1, later);
    assert.equal(installedVersion(database, file), 2);
    migrate(database, 2, later);
    assert.deepEqual({ ...database.get<object>('select colour from job where id = ?', id) }, { colour: 'red' });
  }
  // The version before it still works with the file: the migration did not raise min_code.
  await using store = await open();
  assert.equal((await readOne(store, id)).status, 'pending');
});

test('sqlite: a migration that fails leaves nothing behind', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const later = withMigration('create table extra (id integer primary key); insert into nowhere values (1)');
  using database = new Database(file, { readOnly: false });
  assert.throws(() => migrate(database, 0, later), /no such table: nowhere/);
  assert.equal(installedVersion(database, file), 1);
  assert.throws(() => database.get('select * from extra'), /no such table: extra/);
});

/** Workron's migrations and one more. */
function withMigration(script: string): Migration[] {
  return [...MIGRATIONS, { version: 2, name: '002_later.sql', script }];
}
