import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob } from '../../../contract/kit/builders.ts';
import {
  cancel,
  claim,
  claimOne,
  forever,
  readOne,
  register,
  submitOne,
  succeed,
} from '../../../contract/kit/steps.ts';
import type { Hint } from '../../../src/store/hint.ts';
import type { Store } from '../../../src/store/store.ts';
import { Child } from '../../kit/child.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres } from '../../kit/postgres.ts';

const locksOf = (schema: string) => `from pg_locks where locktype = 'advisory' and granted
  and classid = (select lock_space from "${schema}".meta)::oid`;

test('postgres: the lock of a worker attached to the database is free once its process is dead, not before', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  await using worker = Child.script(new URL('../../kit/postgres-direct-worker.ts', import.meta.url), url, schema);
  const id = Number(await worker.line());
  assert.deepEqual((await store.findUnlocked(forever)).workers, []);

  await worker.kill();
  const [found] = await eventually(
    async () => {
      const { workers } = await store.findUnlocked(forever);
      return workers.length > 0 && workers;
    },
    { retryErrors: true },
  );
  const [row] = await store.workers(forever);
  assert.deepEqual(found, { id, seenAt: row?.seenAt });
  assert.ok((await store.findUnlocked(forever)).serverStartedAt > 0);
});

test('postgres: a lock that was lost with its connection is taken again', async () => {
  await using given = await openTestPostgres();
  const { store, schema, query } = given;
  await register(store, { attachment: 'direct' });
  const [before] = await query<{ pid: number }>(`select pid ${locksOf(schema)}`);
  assert.ok(before);
  await query('select pg_terminate_backend($1)', [before.pid]);

  const after = await eventually(
    async () => {
      const [lock] = await query<{ pid: number }>(`select pid ${locksOf(schema)}`);
      return lock !== undefined && lock.pid !== before.pid && lock;
    },
    { retryErrors: true },
  );
  assert.notEqual(after.pid, before.pid);
  assert.deepEqual((await store.findUnlocked(forever)).workers, []);
});

test('postgres: a worker that leaves gives up its lock', async () => {
  await using given = await openTestPostgres();
  const { store, schema, query } = given;
  const { id } = await register(store, { attachment: 'direct' });
  await store.leaveWorker(id, forever);
  await eventually(async () => (await query(`select 1 ${locksOf(schema)}`)).length === 0);
});

test('postgres: a process that waits hears of work, cancels and ends in another process', async () => {
  await using here = await openTestPostgres();
  await using there = await openTestPostgres({ url: here.url, schema: here.schema });
  const heard: Hint[] = [];
  there.store.subscribe((hint) => heard.push(hint));
  const { id } = await register(there.store);
  assert.deepEqual(await claim(there.store, id), []);
  const other = await register(here.store);
  // Listening begins in the background: what is always announced tells that it has.
  const listens = (from: Store, hints: readonly Hint[]) =>
    eventually(async () => {
      await from.drainWorker(other.id, forever);
      return hints.some(({ topic }) => topic === 'workers');
    });
  await listens(here.store, heard);

  // Says again that it waits: that counts only for a while.
  assert.deepEqual(await claim(there.store, id), []);
  const job = await submitOne(here.store, aJob());
  await eventually(async () => heard.some(({ topic }) => topic === 'work'));
  const lease = await claimOne(there.store, null, id);
  assert.equal(lease.job.id, job.id);

  await cancel(here.store, job.id);
  await eventually(async () => heard.some((hint) => hint.topic === 'workers' && hint.ids.includes(id)));

  const ended: Hint[] = [];
  here.store.subscribe((hint) => ended.push(hint));
  await listens(there.store, ended);
  await succeed(there.store, lease);
  await eventually(async () => ended.some((hint) => hint.topic === 'jobs' && hint.ids.includes(job.id)));
  assert.equal((await readOne(here.store, job.id)).status, 'done');
});
