import assert from 'node:assert/strict';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aJob } from '../../../contract/kit/builders.ts';
import { VirtualClock } from '../../../contract/kit/clock.ts';
import { forever, submitOne } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { copyDatabase } from '../../../src/store/sqlite/base/copy-database.ts';
import { openSqlite, type SqliteStore } from '../../../src/store/sqlite/base/open.ts';
import { Child } from '../../kit/child.ts';
import { aFolder } from '../../kit/sqlite.ts';

const WRITER = new URL('../../kit/sqlite-writer.ts', import.meta.url);

function open(file: string): Promise<SqliteStore> {
  return openSqlite({ file, clock: new VirtualClock(), log: silentLog });
}

/** A folder with a second folder in it, for names in different places. */
async function aPlace() {
  const folder = await aFolder();
  mkdirSync(join(folder.path, 'other'));
  return {
    file: join(folder.path, 'workron.db'),
    otherName: join(folder.path, 'other', 'name.db'),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

for (const [kind, link] of [
  ['symbolic link', symlinkSync],
  ['hard link', linkSync],
] as const) {
  test(`sqlite: a ${kind} to a file is refused while another process owns the file`, async () => {
    await using place = await aPlace();
    await using first = Child.script(WRITER, place.file);
    assert.equal(await first.line(), 'open');
    link(place.file, place.otherName);
    await assert.rejects(open(place.otherName), { code: 'store_unavailable', message: /in use by another Workron/ });
  });

  test(`sqlite: through a ${kind}, nothing that the killed owner acknowledged is missing`, async () => {
    await using place = await aPlace();
    await using first = Child.script(WRITER, place.file);
    const stored: number[] = [];
    while (stored.length < 30) {
      const line = await first.line();
      assert.ok(line !== undefined, 'the writer has ended');
      const [word, id] = line.split(' ');
      if (word === 'stored') stored.push(Number(id));
    }
    await first.kill();
    link(place.file, place.otherName);

    await using store = await open(place.otherName);
    assert.equal((await store.read(stored, forever)).length, stored.length);
    assert.equal(store.location, place.file);
    await assert.rejects(open(place.file), { code: 'store_unavailable' });
  });
}

test('sqlite: a symbolic link to a file that does not exist yet is the name of that file', async () => {
  await using place = await aPlace();
  symlinkSync(place.file, place.otherName);
  await using store = await open(place.otherName);
  assert.equal(store.location, place.file);
  await assert.rejects(open(place.file), { code: 'store_unavailable' });
});

test('sqlite: a copy or a renamed file is a file of its own', async () => {
  await using place = await aPlace();
  const { id } = await use(place.file, (store) => submitOne(store, aJob()));
  copyDatabase(place.file, place.otherName);
  await use(place.file, () => use(place.otherName, (copy) => holds(copy, id)));

  const renamed = `${place.file}.renamed`;
  renameSync(place.file, renamed);
  await use(renamed, (store) => holds(store, id));
  // The name that was recorded first is now another name of the file, and its log would not be found there.
  linkSync(renamed, place.file);
  await use(place.file, async (store) => assert.equal(store.location, renamed));
});

test('sqlite: of several names none of which is on record, none is opened; once one is left, it is', async () => {
  await using place = await aPlace();
  const { id } = await use(place.file, (store) => submitOne(store, aJob()));
  const names = [`${place.otherName}.1`, `${place.otherName}.2`] as const;
  for (const name of names) linkSync(place.file, name);
  rmSync(place.file);
  await assert.rejects(open(names[0]), { code: 'store_unavailable', message: /2 names.*remove/ });
  rmSync(names[1]);
  await use(names[0], (store) => holds(store, id));
});

test('sqlite: a copy through another name has what is only in the write-ahead log', async () => {
  await using place = await aPlace();
  await using store = await open(place.file);
  const { id } = await submitOne(store, aJob());
  linkSync(place.file, place.otherName);
  copyDatabase(place.otherName, `${place.file}.copy`);
  await use(`${place.file}.copy`, (copy) => holds(copy, id));
});

async function use<T>(file: string, body: (store: SqliteStore) => Promise<T>): Promise<T> {
  await using store = await open(file);
  return await body(store);
}

async function holds(store: SqliteStore, id: number): Promise<void> {
  assert.deepEqual(
    (await store.read([id], forever)).map((job) => job.id),
    [id],
  );
}
