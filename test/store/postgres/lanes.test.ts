/** Lanes that nothing uses are deleted while several processes insert jobs. */

import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { mock, test } from 'node:test';
import pg from 'pg';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { cancel, claim, forever, ids, register, submit, submitOne, success } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

/** Runs the pending jobs of all queues, and returns their ids. */
async function runAll(store: Store): Promise<number[]> {
  const { id: workerId } = await register(store);
  const jobs = await claim(store, workerId, { limit: 1_000, offer: anOffer() });
  await store.settle(
    jobs.map((job) => success({ job, workerId })),
    forever,
  );
  return ids(jobs).sort((a, b) => a - b);
}

async function countLanes({ query, schema }: PostgresTestStore): Promise<number> {
  const [row] = await query<{ count: number }>(`select count(*)::integer as count from "${schema}".lane`);
  return row?.count ?? 0;
}

/** Each look at the clock that counts on while the machine is suspended comes an hour after the one before. */
function hourly(): Disposable {
  const [uptime, now] = [os.uptime, Date.now];
  let hours = 0;
  os.uptime = () => uptime() + 3_600 * ++hours;
  syncBuiltinESMExports();
  mock.method(Date, 'now', () => now() + 3_600_000 * ++hours);
  return {
    [Symbol.dispose]() {
      mock.restoreAll();
      os.uptime = uptime;
      syncBuiltinESMExports();
    },
  };
}

/** Others that use the server may keep a lane for a moment. */
async function deleteAll(store: Store, given: PostgresTestStore, left: number): Promise<void> {
  const marks = await store.markLanes(1_000, forever);
  await eventually(async () => {
    await store.deleteLanes(marks, forever);
    return (await countLanes(given)) === left;
  });
}

test('lanes: those of tenants that are gone are deleted, and the others stay', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  await submit(
    store,
    Array.from({ length: 50 }, (_, tenant) => aJob({ requires: [`tenant-${tenant}`] })),
  );
  const pending = await store.list({}, { before: null, limit: 100 }, forever);
  for (const { id } of pending.slice(10)) await cancel(store, id);
  await deleteAll(store, given, 10);
  const { id } = await register(store);
  const tags = Array.from({ length: 50 }, (_, tenant) => `tenant-${tenant}`);
  assert.equal((await claim(store, id, { limit: 100, offer: anOffer({ tags }) })).length, 10);
});

test('lanes: a process that has known a lane for an hour looks it up again, so its jobs are claimed by others', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  await using other = await openPostgres({ log: silentLog, url, schema });
  const first = await submitOne(other, aJob({ queue: 'tenant' }));
  assert.deepEqual(await runAll(store), [first.id]);
  await deleteAll(store, given, 0);
  using _ = hourly();
  const next = await submitOne(other, aJob({ queue: 'tenant' }));
  assert.deepEqual(await runAll(store), [next.id]);
});

test('lanes: a job that comes after the mark makes it void', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  await using other = await openPostgres({ log: silentLog, url, schema });
  await submitOne(other, aJob({ queue: 'tenant' }));
  await runAll(store);
  const marks = await store.markLanes(1_000, forever);
  assert.equal(marks.length, 1);
  using _ = hourly();
  await submitOne(other, aJob({ queue: 'tenant' }));
  await runAll(store);
  assert.equal(await store.deleteLanes(marks, forever), 0);
  assert.equal(await countLanes(given), 1);
});

test('lanes: a job of a transaction that was open when its lane was marked keeps the lane', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  await submitOne(store, aJob({ queue: 'tenant' }));
  await runAll(store);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(`select "${schema}".submit(command => 'true', queue => 'tenant')`);
    const marks = await store.markLanes(1_000, forever);
    assert.equal(await store.deleteLanes(marks, forever), 0);
    await client.query('commit');
  } finally {
    await client.end();
  }
  await store.adopt(10, forever);
  assert.equal((await runAll(store)).length, 1);
});

test('lanes: while lanes are marked and deleted, no job that others insert is left in a lane that does not exist', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema, query } = given;
  await using other = await openPostgres({ log: silentLog, url, schema });
  using _ = hourly();
  const over = new AbortController();
  let inserting: Promise<unknown> = Promise.resolve();
  const deleted: number[] = [];
  const deleting = (async () => {
    while (!over.signal.aborted) {
      const marks = await store.markLanes(1_000, forever);
      // The pruner waits for hours: jobs that were inserted by what was known before the mark are there by then.
      await inserting;
      if ((await store.deleteLanes(marks, forever)) > 0) deleted.push(marks.length);
    }
  })();
  const inserted: number[] = [];
  const ran: number[] = [];
  // Others that use the server may keep lanes for a while.
  for (let round = 0; round < 30 || (deleted.length === 0 && round < 3_000); round += 1) {
    const submitted = Promise.all(
      [0, 1, 2].map((tenant) => submitOne([other, store][round % 2] as Store, aJob({ queue: `tenant-${tenant}` }))),
    );
    inserting = submitted;
    inserted.push(...ids(await submitted));
    if (round % 3 === 0) ran.push(...(await runAll(other)));
  }
  over.abort();
  await deleting;
  const orphans = await query(
    `select job_id from "${schema}".live l where not exists (select 1 from "${schema}".lane n where n.id = l.lane)`,
  );
  assert.deepEqual(orphans, []);
  assert.ok(deleted.length > 0);
  ran.push(...(await runAll(store)));
  assert.deepEqual(
    ran.sort((a, b) => a - b),
    inserted.sort((a, b) => a - b),
  );
});
