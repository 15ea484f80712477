import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { aJob } from '../../../contract/kit/builders.ts';
import { readOne, submitOne } from '../../../contract/kit/steps.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { Database } from '../../../src/store/sqlite/base/database.ts';
import { installedVersion, migrate } from '../../../src/store/sqlite/base/migrate.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { aFolder } from '../../kit/sqlite.ts';

const MIGRATIONS = new URL('../../../src/store/sqlite/migrations/', import.meta.url);

test('sqlite: a later migration is applied once, and jobs from before it stay', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const open = () => openSqlite({ file, clock: systemClock, log: silentLog });
  const id = await (async () => {
    await using store = await open();
    return (await submitOne(store, aJob())).id;
  })();
  const later = await withMigration(folder.path, "alter table job add column colour text not null default 'red'");
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
  const later = await withMigration(
    folder.path,
    'create table extra (id integer primary key); insert into nowhere values (1)',
  );
  using database = new Database(file, { readOnly: false });
  assert.throws(() => migrate(database, 0, later), /no such table: nowhere/);
  assert.equal(installedVersion(database, file), 1);
  assert.throws(() => database.get('select * from extra'), /no such table: extra/);
});

/** A folder with Workron's migrations and one more. */
async function withMigration(folder: string, script: string): Promise<URL> {
  const path = join(folder, 'migrations');
  await cp(MIGRATIONS, path, { recursive: true });
  await writeFile(join(path, '002_later.sql'), script);
  return pathToFileURL(`${path}/`);
}
