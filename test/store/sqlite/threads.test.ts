import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer, jobs } from '../../../contract/kit/builders.ts';
import { beat, claim, forever, ids, readOne, register, submit, submitOne } from '../../../contract/kit/steps.ts';
import { engine } from '../../../src/store/engine/engine.ts';
import { urgentReads } from '../../../src/store/sqlite/base/writer-methods.ts';
import { openTestSqlite } from '../../kit/sqlite.ts';

test('sqlite: ten claimers at once on five jobs: five get one, five get none', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const stored = await submit(store, jobs(5));
  const workers = await Promise.all(Array.from({ length: 10 }, () => register(store)));
  const claimed = await Promise.all(workers.map(({ id }) => claim(store, id, { limit: 1 })));

  assert.deepEqual(
    ids(claimed.flat()).sort((a, b) => a - b),
    ids(stored),
  );
  assert.equal(claimed.filter((got) => got.length === 1).length, 5);
});

test('sqlite: calls that share a commit do not share a failure, and a failed one leaves nothing', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const calls = await Promise.allSettled(
    Array.from({ length: 30 }, (_, index) => {
      const good = aJob({ queue: `q${index}`, unique: { key: `k${index}`, while: 'active', onConflict: 'reject' } });
      // Half a priority is refused by the table, when the first job and its lane are already written.
      return submit(store, index % 3 === 0 ? [good, aJob({ priority: 0.5 })] : [good]);
    }),
  );

  assert.equal(calls.filter(({ status }) => status === 'rejected').length, 10);
  const stored = calls.flatMap((call) => (call.status === 'fulfilled' ? ids(call.value) : []));
  const there = await store.list({}, { before: null, limit: 100 }, forever);
  assert.deepEqual(
    ids(there).reverse(),
    stored.sort((a, b) => a - b),
  );
  const worker = await register(store);
  assert.equal((await claim(store, worker.id)).length, 20);
  // The lanes and keys of those that failed are free.
  await submitOne(store, aJob({ queue: 'q3', unique: { key: 'k3', while: 'active', onConflict: 'reject' } }));
  assert.equal((await claim(store, worker.id, { offer: anOffer({ queues: ['q3'] }) })).length, 1);
});

test('sqlite: reads that must not wait behind a long list are in the writer’s thread, all others in the reader’s', () => {
  const urgent = Object.entries(engine).filter(([, { mode }]) => mode === 'urgent');
  assert.deepEqual([...Object.keys(urgentReads), ...urgent.map(([name]) => name)].sort(), [
    'checkpoint',
    'definition',
    'findExpired',
    'findLost',
    'findSkippable',
    'gangs',
    'incompleteGangs',
    'jobSteps',
    'leases',
    'meterUse',
    'notices',
    'now',
    'openOperations',
    'openSteps',
    'operation',
    'places',
    'read',
    'readCheckpoint',
    'schedule',
    'schedulesUsing',
    'secrets',
    'ticksWithoutRun',
    'validTokens',
    'worker',
    'workflow',
  ]);
});

test('sqlite: a long list does not hold up a heartbeat', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const worker = await register(store);
  const long = 'x'.repeat(50_000);
  for (let round = 0; round < 5; round += 1) await submit(store, jobs(200, { command: long }));

  const first = await Promise.race([
    store.count({ text: 'not to be found' }, 10, forever).then(() => 'list'),
    beat(store, worker.id, []).then(() => 'heartbeat'),
  ]);
  assert.equal(first, 'heartbeat');
});

test('sqlite: a call given up after it was sent rejects at once, and happens whole', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const controller = new AbortController();
  const reason = new Error('no longer wanted');
  const call = store.insert(jobs(3), {}, controller.signal);
  controller.abort(reason);
  await assert.rejects(call, reason);
  assert.equal((await readOne(store, 3)).status, 'pending');
});

test('sqlite: closing answers what was asked before, and refuses what comes after', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const asked = [submit(store, jobs(2)), submit(store, jobs(2))];
  await store[Symbol.asyncDispose]();
  assert.equal((await Promise.all(asked)).flat().length, 4);
  await assert.rejects(submit(store, jobs(1)), { code: 'store_unavailable' });
});
