/** Gangs with several connections to one database. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, anOffer } from '../../../contract/kit/builders.ts';
import { claim, fail, forever, ids, register, retry, submit, succeed } from '../../../contract/kit/steps.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres } from '../../kit/postgres.ts';
import { statementsOf } from '../../kit/store-tour.ts';

test('gangs: a member that is retried through a process that knows no gangs leaves its place, and starts again', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  const { id: workerId } = await register(store, { slots: 2, leaseMs: 3_600_000 });
  const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'continue', timeoutMs: 600_000 } as const;
  const wanted = [0, 1].map((rank) => aJob({ tags: ['gang:g'], maxAttempts: 1, gang: { ...gang, rank } }));
  const members = ids(await submit(store, wanted));
  await store.placeGangs(forever);
  const claimed = await claim(store, workerId, { limit: 2, offer: anOffer() });
  assert.deepEqual(ids(claimed), members);
  const [first, second] = claimed.map((job) => ({ job, workerId }));
  assert.ok(first && second);
  await fail(store, first);

  const api = await openPostgres({ log: silentLog, url, schema });
  await using _closed = api;
  assert.equal((await retry(api, first.job.id)).status, 'pending');

  assert.deepEqual(
    (await store.places(forever)).map(({ jobId }) => jobId),
    [second.job.id],
    'the place of the retried member is gone',
  );
  await succeed(store, second);
  await store.dropPlaces([{ gangId: 'g', term: 1, unlessStarted: false }], forever);
  assert.equal(await store.placeGangs(forever), 1);
  const [again] = await claim(store, workerId, { limit: 2, offer: anOffer() });
  assert.deepEqual([again?.id, again?.attempt, again?.gangContext?.hosts[1]], [first.job.id, 2, '']);
});

test('gangs: a claim that waits for its queue leaves to a gang what the gang was promised meanwhile', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  const { id: workerId } = await register(store, { slots: 2, leaseMs: 3_600_000 });
  await register(store, { slots: 2, tags: ['gpu'], leaseMs: 3_600_000 });
  await store.setQueue('few', { maxRunning: 2 }, forever);
  const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'fail', timeoutMs: 600_000 } as const;
  const wanted = { queue: 'few', tags: ['gang:g'], requires: ['gpu'], maxAttempts: 1 };
  await submit(
    store,
    [0, 1].map((rank) => aJob({ ...wanted, gang: { ...gang, rank } })),
  );
  await submit(store, [aJob({ queue: 'few' })]);

  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query(`begin; select * from "${schema}".queue where name = 'few' for update`);
  const claiming = claim(store, workerId, { limit: 2 });
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0`;
  await eventually(async () => (await given.query(waiting, [`"${schema}".queue`])).length === 1);
  assert.equal(await store.placeGangs(forever), 2);
  await other.query('rollback');
  await other.end();
  assert.deepEqual(ids(await claiming), []);
});

test('gangs: a claim is one statement before a gang was submitted, while one waits or runs, and after it', async () => {
  await using given = await openTestPostgres();
  const { store } = given;
  const { id: workerId } = await register(store, { slots: 4, leaseMs: 3_600_000 });
  const { id: other } = await register(store, { slots: 4, tags: ['gpu'], leaseMs: 3_600_000 });
  const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'continue', timeoutMs: 600_000 } as const;
  const count = async (limit: number) => {
    await submit(store, [aJob()]);
    const offer = anOffer({ queues: ['default'] });
    const sent = await statementsOf(async () =>
      assert.equal((await claim(store, workerId, { limit, offer })).length, 1),
    );
    return sent.length;
  };
  const limited = async () => {
    await submit(store, [aJob({ queue: 'few' })]);
    const offer = anOffer({ queues: ['few'] });
    const sent = await statementsOf(async () =>
      assert.equal((await claim(store, workerId, { limit: 1, offer })).length, 1),
    );
    return sent.length;
  };
  await store.setQueue('few', { maxRunning: 100 }, forever);
  // The first claims learn the lanes.
  await count(1);
  await limited();
  const before = [await count(1), await limited()];
  assert.equal(before[0], 1);

  const members = ids(
    await submit(
      store,
      [0, 1].map((rank) => aJob({ tags: ['gang:g'], requires: ['gpu'], gang: { ...gang, rank } })),
    ),
  );
  assert.deepEqual([await count(1), await limited()], before, 'a gang without places');
  await store.placeGangs(forever);
  assert.equal(await count(1), 1, 'places at another worker');
  const offer = anOffer({ tags: ['gpu'] });
  const started = await claim(store, other, { limit: 2, offer });
  assert.deepEqual(ids(started), members);
  assert.deepEqual([await count(1), await limited()], before, 'a gang that runs');
  for (const job of started) await succeed(store, { job, workerId: other });
  await store.dropPlaces([{ gangId: 'g', term: 1, unlessStarted: false }], forever);
  assert.deepEqual([await count(1), await limited()], before, 'a gang that has ended');
});

test('gangs: a worker that has just learned its lanes starts members that others have submitted and placed since', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  await using elsewhere = await openPostgres({ log: silentLog, url, schema });
  const { id: workerId } = await register(store, { slots: 2, leaseMs: 3_600_000 });
  for (let round = 0; round < 3; round += 1) {
    const id = `g${round}`;
    const gang = { id, size: 2, min: 2, spread: 'pack', onMemberFailure: 'continue', timeoutMs: 600_000 } as const;
    await submit(elsewhere, [aJob()]);
    const [single] = await claim(store, workerId, { limit: 2, offer: anOffer() });
    assert.ok(single);
    await succeed(store, { job: single, workerId });
    const members = ids(
      await submit(
        elsewhere,
        [0, 1].map((rank) => aJob({ tags: [`gang:${id}`], queue: `q${round}`, gang: { ...gang, rank } })),
      ),
    );
    assert.equal(await elsewhere.placeGangs(forever), 2);
    // More than the worker has slots for: the places come first.
    await submit(elsewhere, [aJob(), aJob()]);
    const started = await claim(store, workerId, { limit: 2, offer: anOffer() });
    assert.deepEqual(ids(started), members);
    for (const job of started) await succeed(store, { job, workerId });
    for (const job of await claim(store, workerId, { limit: 2, offer: anOffer() }))
      await succeed(store, { job, workerId });
    await elsewhere.dropPlaces([{ gangId: id, term: 1, unlessStarted: false }], forever);
  }
});
