import assert from 'node:assert/strict';
import type { Offer } from '../src/core/lane.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, jobs } from './kit/builders.ts';
import {
  claim,
  claimOne,
  decide,
  fail,
  forever,
  ids,
  register,
  retry,
  submit,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

async function claimWith(store: Store, offer: Partial<Offer>, limit = 100): Promise<number[]> {
  const { id } = await register(store);
  return ids(await claim(store, id, { offer: anOffer(offer), limit }));
}

async function cancelRunning(store: Store, jobId: number): Promise<void> {
  await decide(store, jobId, { type: 'settle', outcome: { type: 'cancelled', error: null } });
}

export function exerciseLanes(open: OpenStore): void {
  const test = withStore(open);

  test('lanes: a worker gets jobs of its queues only', async ({ store }) => {
    const [, b, c] = ids(await submit(store, [aJob({ queue: 'a' }), aJob({ queue: 'b' }), aJob({ queue: 'c' })]));
    assert.deepEqual(await claimWith(store, { queues: ['c', 'b', 'nothing'] }), [b, c]);
  });

  test('lanes: a worker gets commands if it runs commands, and only jobs of its handlers', async ({ store }) => {
    const [command, one] = ids(await submit(store, [aJob(), aJob({ handler: 'one' }), aJob({ handler: 'two' })]));
    assert.deepEqual(await claimWith(store, { commands: false, handlers: ['one', 'three'] }), [one]);
    assert.deepEqual(await claimWith(store, {}), [command]);
  });

  test('lanes: a worker must have every tag that a job requires', async ({ store }) => {
    const [, eu, plain] = ids(
      await submit(store, [aJob({ requires: ['gpu', 'eu'] }), aJob({ requires: ['eu'] }), aJob()]),
    );
    assert.deepEqual(await claimWith(store, { tags: ['eu', 'x'] }), [eu, plain]);
    assert.equal((await claimWith(store, { tags: ['eu', 'gpu'] })).length, 1);
  });

  test('lanes: jobs that the worker cannot run do not block the jobs behind them', async ({ store }) => {
    await submit(store, jobs(30, { requires: ['gpu'], priority: 9 }));
    const [plain] = ids(await submit(store, [aJob()]));
    assert.deepEqual(await claimWith(store, {}, 1), [plain]);
  });

  test('resources: a claim never exceeds the free resources', async ({ store }) => {
    await submit(store, jobs(5, { resources: { memory_mb: 400 } }));
    assert.equal((await claimWith(store, { free: { memory_mb: 1_000 } })).length, 2);
    assert.equal((await claimWith(store, { free: { memory_mb: 399 } })).length, 0);
    assert.equal((await claimWith(store, { free: { gpu: 9 } })).length, 0);
    assert.equal((await claimWith(store, { free: { memory_mb: 4_000 } })).length, 3);
  });

  test('resources: what one job takes is not available for the next, in any lane', async ({ store }) => {
    const wanted = [
      aJob({ priority: 3, resources: { gpu: 1 } }),
      aJob({ priority: 2, resources: { gpu: 1, memory_mb: 1 } }),
      aJob({ priority: 1, resources: { memory_mb: 1 } }),
      aJob({ priority: 0 }),
    ];
    const [first, , third, fourth] = ids(await submit(store, wanted));
    assert.deepEqual(await claimWith(store, { free: { gpu: 1, memory_mb: 1 } }), [first, third, fourth]);
  });

  test('resources: the more urgent job gets them, in whichever lane it is', async ({ store }) => {
    const wanted = [
      aJob({ priority: 1, resources: { memory_mb: 2 } }),
      aJob({ priority: 3, resources: { memory_mb: 3 } }),
      aJob({ priority: 2, resources: { memory_mb: 2 } }),
      aJob({ priority: 0, resources: { memory_mb: 1 } }),
    ];
    const [one, three, two, zero] = ids(await submit(store, wanted));
    assert.deepEqual(await claimWith(store, { free: { memory_mb: 4 } }), [three, zero]);
    assert.deepEqual(await claimWith(store, { free: { memory_mb: 4 } }), [two, one]);
  });

  test('resources: a job that asks for 0 of a resource runs on a worker without it', async ({ store }) => {
    await submit(store, [aJob({ resources: { gpu: 0 } })]);
    assert.equal((await claimWith(store, { free: {} })).length, 1);
  });

  test('resources: fractional amounts are counted', async ({ store }) => {
    await submit(store, jobs(4, { resources: { gpu: 0.5 } }));
    assert.equal((await claimWith(store, { free: { gpu: 1.5 } })).length, 3);
  });

  test('lanes: equal requirements form one lane, in whatever order they are given', async ({ store }) => {
    const [a, b, c] = ids(
      await submit(store, [
        aJob({ requires: ['x', 'y'], resources: { a: 1, b: 1 }, priority: 1 }),
        aJob({ requires: ['y', 'x'], resources: { b: 1, a: 1 }, priority: 3 }),
        aJob({ requires: ['x', 'y', 'x'], resources: { a: 1, b: 1, c: 0 }, priority: 2 }),
      ]),
    );
    assert.deepEqual(await claimWith(store, { tags: ['x', 'y'], free: { a: 3, b: 3 } }), [b, c, a]);
  });

  test('lanes: none that a job uses is deleted, whatever its status', async ({ store, advance }) => {
    const limits = [{ key: 'k', max: 1 }];
    const parent = await submitOne(store, aJob({ queue: 'parent', limits }));
    const holder = await claimOne(store);
    assert.equal(holder.job.id, parent.id);
    const waiting = await submit(store, [
      aJob({ queue: 'pending' }),
      aJob({ queue: 'scheduled', delayMs: 1_000 }),
      aJob({ queue: 'blocked', dependsOn: [{ jobId: parent.id, condition: 'success' }] }),
      aJob({ queue: 'parked', limits }),
    ]);
    assert.deepEqual(await claimWith(store, { queues: ['parked'] }), []);
    await store.deleteLanes(await store.markLanes(1_000, forever), forever);

    await succeed(store, holder);
    await advance(2_000);
    await store.promote(10, forever);
    await store.cascade(100, forever);
    assert.deepEqual(
      (await claimWith(store, {})).sort((a, b) => a - b),
      ids(waiting),
    );
  });

  test('lanes: one that was deleted is made again by the next job, also by a retry or an edit', async ({ store }) => {
    const lease = await claimOne(store, aJob({ queue: 'tenant', maxAttempts: 1 }));
    await fail(store, lease);
    const other = await submitOne(store, aJob({ queue: 'other' }));
    const deleteAll = async () => store.deleteLanes(await store.markLanes(1_000, forever), forever);
    await deleteAll();
    const next = await submitOne(store, aJob({ queue: 'tenant' }));
    assert.deepEqual(await claimWith(store, { queues: ['tenant'] }), [next.id]);
    await cancelRunning(store, next.id);
    await deleteAll();
    await retry(store, lease.job.id);
    assert.deepEqual(await claimWith(store, { queues: ['tenant'] }), [lease.job.id]);
    await cancelRunning(store, lease.job.id);
    await deleteAll();
    await store.edit(other.id, { queue: 'tenant' }, forever);
    assert.deepEqual(await claimWith(store, { queues: ['tenant'] }), [other.id]);
  });

  test('lanes: jobs that are inserted while lanes are deleted can all be claimed', async ({ store }) => {
    const queues = ['a', 'b', 'c'];
    for (let round = 0; round < 10; round += 1) {
      const [inserted] = await Promise.all([
        Promise.all(queues.map((queue) => submitOne(store, aJob({ queue })))),
        store.markLanes(1_000, forever),
      ]);
      const marks = await store.markLanes(1_000, forever);
      await store.deleteLanes(marks, forever);
      assert.deepEqual(
        (await claimWith(store, {})).sort((a, b) => a - b),
        ids(inserted).sort((a, b) => a - b),
      );
      for (const { id } of inserted) await cancelRunning(store, id);
    }
  });
}
