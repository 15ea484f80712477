/** Lanes that nothing uses are deleted from the file. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { cancel, claim, forever, ids, register, submit, submitOne } from '../../../contract/kit/steps.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { aFolder } from '../../kit/sqlite.ts';

test('lanes: those of tenants that are gone are deleted, unless a job comes after the mark', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  const tenant = (n: number) => aJob({ requires: [`tenant-${n}`] });
  const jobs = await submit(
    store,
    Array.from({ length: 50 }, (_, n) => tenant(n)),
  );
  for (const { id } of jobs.slice(10)) await cancel(store, id);
  const marks = await store.markLanes(1_000, forever);
  assert.equal(marks.length, 40);
  const late = await submitOne(store, tenant(10));
  await cancel(store, late.id);
  assert.equal(await store.deleteLanes(marks, forever), 39);
  const again = await submitOne(store, tenant(11));
  const { id } = await register(store);
  const tags = Array.from({ length: 50 }, (_, n) => `tenant-${n}`);
  const claimed = await claim(store, id, { limit: 100, offer: anOffer({ tags }) });
  assert.deepEqual(ids(claimed), [...ids(jobs.slice(0, 10)), again.id]);
  using database = new DatabaseSync(file, { readOnly: true });
  assert.equal(database.prepare('select count(*) as count from lane').get()?.['count'], 12);
});
