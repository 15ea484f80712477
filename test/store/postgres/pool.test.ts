import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, jobs } from '../../../contract/kit/builders.ts';
import {
  claim,
  claimOne,
  fail,
  forever,
  ids,
  readOne,
  register,
  submit,
  submitOne,
  succeed,
} from '../../../contract/kit/steps.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openPostgres } from '../../../src/store/postgres/base/open.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

test('postgres: what was stored is there when the pool is opened again', async () => {
  await using given = await openTestPostgres();
  const done = await claimOne(given.store, aJob({ name: 'done' }));
  await succeed(given.store, done, { answer: 42 });
  const failed = await claimOne(given.store, aJob({ name: 'failed' }));
  await fail(given.store, failed);
  const waiting = await submitOne(given.store, aJob({ name: 'waiting', tags: ['a', 'b'], priority: 7 }));
  const before = await given.store.read([done.job.id, failed.job.id, waiting.id], forever);

  const { url, schema } = given;
  await using again = await openPostgres({ url, schema, log: silentLog });
  assert.deepEqual(await again.read(ids(before), forever), before);
  assert.deepEqual(ids(await claim(again, (await register(again)).id)), [waiting.id]);
});

test('postgres: thirty claimers on twenty jobs through ten connections make exactly twenty claims', async () => {
  await using given = await openTestPostgres({ poolSize: 10 });
  const { store, schema } = given;
  await submit(store, jobs(20));
  const workers = await Promise.all(Array.from({ length: 30 }, () => register(store)));

  // All thirty set out together: the ten connections are held up until each has a claim to send.
  const blocker = new pg.Client({ connectionString: given.url });
  await blocker.connect();
  await blocker.query(`begin; lock table "${schema}".live in access exclusive mode`);
  const claims = workers.map(({ id }) => claim(store, id, { limit: 1 }));
  const busy = `select count(distinct a.pid)::integer as count from pg_stat_activity a join pg_locks k on k.pid = a.pid
    where k.relation = '"${schema}".live'::regclass and not k.granted`;
  await eventually(async () => (await given.query<{ count: number }>(busy))[0]?.count === 10);
  await blocker.query('rollback');
  await blocker.end();

  const claimed = (await Promise.all(claims)).flat();
  assert.equal(claimed.length, 20);
  assert.equal(new Set(ids(claimed)).size, 20);
});

test('postgres: a heartbeat does not wait behind a busy pool', async () => {
  await using given = await openTestPostgres({ poolSize: 1 });
  const { store, schema } = given;
  const { id } = await register(store);
  const job = await submitOne(store, aJob());
  const holder = new pg.Client({ connectionString: given.url });
  await holder.connect();
  await holder.query(`begin; select * from "${schema}".live for update`);

  const stuck = store.edit(job.id, { priority: 1 }, forever);
  const answer = await store.heartbeat({ workerId: id, leases: [], seenClaim: null }, forever);
  assert.equal(answer?.drain, false);
  await holder.query('rollback');
  await holder.end();
  assert.equal((await stuck)?.priority, 1);
});

test('postgres: connections that the server ends are replaced, and no process falls', async () => {
  await using given = await openTestPostgres({ poolSize: 3 });
  const { store } = given;
  store.subscribe(() => undefined);
  await Promise.all([submit(store, jobs(1)), submit(store, jobs(1)), submit(store, jobs(1))]);
  const ours = `from pg_stat_activity where application_name = 'workron' and query like $1`;
  await given.query(`select pg_terminate_backend(pid) ${ours}`, [`%${given.schema}%`]);
  await eventually(async () => (await given.query(`select 1 ${ours}`, [`%${given.schema}%`])).length === 0);

  const stored = await eventually(() => submitOne(store, aJob()), { retryErrors: true });
  assert.equal((await readOne(store, stored.id)).status, 'pending');
});

test('postgres: a database that is not there is told as away, not as a mistake', async () => {
  const url = 'postgres://postgres@127.0.0.1:1/postgres';
  await assert.rejects(openPostgres({ url, log: silentLog }), (error) => isWorkronError(error, 'store_unavailable'));
});

test('postgres: an installation is not disturbed by another in the same database', async () => {
  await using one = await openTestPostgres();
  await using other = await openTestPostgres();
  const heard: string[] = [];
  other.store.subscribe(({ topic }) => heard.push(topic));
  const worker = await register(other.store, { attachment: 'direct' });
  const twin = await register(one.store, { attachment: 'direct' });
  assert.equal(worker.id, twin.id);
  await submit(one.store, jobs(3));

  assert.deepEqual(await claim(other.store, worker.id), []);
  assert.equal(await other.store.count({}, 10, forever), 0);
  await one.store.leaveWorker(twin.id, forever);
  assert.deepEqual((await other.store.findUnlocked(forever)).workers, []);
  assert.deepEqual(heard, []);
});
