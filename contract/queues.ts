import assert from 'node:assert/strict';
import { aJob, anOffer, jobs } from './kit/builders.ts';
import { cancel, claim, claimOne, forever, ids, register, submit, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseQueues(open: OpenStore): void {
  const test = withStore(open);

  test('queues: no job of a paused queue is claimed until it is resumed, and other queues go on', async ({ store }) => {
    const [a, b] = ids(await submit(store, [aJob({ queue: 'a', priority: 9 }), aJob({ queue: 'b' })]));
    const { id } = await register(store);
    const paused = await store.setQueue('a', { paused: true }, forever);
    assert.equal(paused.paused, true);
    assert.ok(paused.pausedAt !== null);
    assert.deepEqual(ids(await claim(store, id)), [b]);
    const resumed = await store.setQueue('a', { paused: false }, forever);
    assert.deepEqual([resumed.paused, resumed.pausedAt], [false, null]);
    assert.deepEqual(ids(await claim(store, id)), [a]);
  });

  test('queues: pausing twice keeps the time of the first pause', async ({ store, advance }) => {
    const first = await store.setQueue('a', { paused: true }, forever);
    await advance(5_000);
    const second = await store.setQueue('a', { paused: true }, forever);
    assert.equal(second.pausedAt, first.pausedAt);
  });

  test('queues: one without unfinished jobs can be deleted, and starts afresh after that', async ({ store }) => {
    await store.setQueue('typo', { paused: true, maxRunning: 1 }, forever);
    assert.equal(await store.deleteQueue('typo', forever), true);
    assert.equal(await store.deleteQueue('typo', forever), false, 'it is gone');
    assert.deepEqual(await store.queues(forever), []);
    const made = await store.setQueue('typo', {}, forever);
    assert.deepEqual([made.paused, made.maxRunning], [false, null]);

    await store.setQueue('busy', { paused: true }, forever);
    const [waiting] = await submit(store, [aJob({ queue: 'busy' })]);
    assert.equal(await store.deleteQueue('busy', forever), false, 'its jobs would start');
    assert.deepEqual(await claim(store, (await register(store)).id), []);
    await cancel(store, waiting?.id ?? 0);
    assert.equal(await store.deleteQueue('busy', forever), true);
    const [next] = ids(await submit(store, [aJob({ queue: 'busy' })]));
    assert.deepEqual(ids(await claim(store, (await register(store)).id)), [next], 'it is not paused any more');
  });

  test('queues: settings that are not given stay', async ({ store }) => {
    await store.setQueue('a', { paused: true, maxRunning: 3 }, forever);
    assert.equal((await store.setQueue('a', { paused: false }, forever)).maxRunning, 3);
    assert.equal((await store.setQueue('a', { maxRunning: null }, forever)).maxRunning, null);
    assert.equal((await store.setQueue('a', { paused: true }, forever)).paused, true);
    assert.equal((await store.setQueue('a', { maxRunning: 1 }, forever)).paused, true);
  });

  test('max_running: limits the running jobs of a queue across workers and claims', async ({ store }) => {
    await store.setQueue('a', { maxRunning: 2 }, forever);
    await submit(store, [...jobs(5, { queue: 'a', priority: 9 }), aJob({ queue: 'b' })]);
    const [one, two] = [await register(store), await register(store)];
    const held = await claim(store, one.id, { limit: 1 });
    assert.equal(held.length, 1);
    const more = await claim(store, two.id);
    assert.deepEqual(more.map(({ queue }) => queue).sort(), ['a', 'b']);
    assert.deepEqual(await claim(store, one.id), []);

    const [first] = held;
    assert.ok(first);
    await succeed(store, { job: first, workerId: one.id });
    assert.equal((await claim(store, two.id)).length, 1);
  });

  test('max_running: counts all lanes of the queue together', async ({ store }) => {
    await store.setQueue('a', { maxRunning: 2 }, forever);
    const wanted = [
      aJob({ queue: 'a', priority: 1 }),
      aJob({ queue: 'a', priority: 2, handler: 'h' }),
      aJob({ queue: 'a', priority: 3, requires: ['gpu'] }),
    ];
    const [, second, third] = ids(await submit(store, wanted));
    const { id } = await register(store);
    const offer = anOffer({ handlers: ['h'], tags: ['gpu'] });
    assert.deepEqual(ids(await claim(store, id, { offer })), [third, second]);
  });

  test('max_running: 0 stops a queue, null removes the limit', async ({ store }) => {
    await submit(store, jobs(3));
    const { id } = await register(store);
    await store.setQueue('default', { maxRunning: 0 }, forever);
    assert.deepEqual(await claim(store, id), []);
    await store.setQueue('default', { maxRunning: null }, forever);
    assert.equal((await claim(store, id)).length, 3);
  });

  test('max_running: is respected by concurrent claims', async ({ store }) => {
    await store.setQueue('default', { maxRunning: 3 }, forever);
    await submit(store, jobs(20));
    const workers = await Promise.all(Array.from({ length: 8 }, () => register(store)));
    const claimed = await Promise.all(workers.map(({ id }) => claim(store, id, { limit: 2 })));
    assert.ok(claimed.flat().length <= 3);
    await claim(store, workers[0]?.id ?? 0);
    const [queue] = await store.queues(forever);
    assert.equal(queue?.running, 3);
  });

  test('queues: lists every queue with settings or unfinished jobs by name, with its counts', async ({ store }) => {
    assert.deepEqual(await store.queues(forever), []);
    await store.setQueue('idle', { maxRunning: 7 }, forever);
    const [oldest] = await submit(store, [
      aJob({ queue: 'Busy' }),
      aJob({ queue: 'Busy', priority: 5 }),
      aJob({ queue: 'Busy', delayMs: 60_000 }),
      aJob({ queue: 'over', priority: 9 }),
      aJob({ queue: 'busy' }),
    ]);
    await succeed(store, await claimOne(store));
    await claimOne(store);

    const none = {
      paused: false,
      pausedAt: null,
      maxRunning: null,
      rate: null,
      blocked: 0,
      scheduled: 0,
      pending: 0,
      running: 0,
    };
    const [Busy, busy, idle, ...others] = await store.queues(forever);
    assert.deepEqual(others, []);
    assert.deepEqual(Busy, {
      ...none,
      name: 'Busy',
      scheduled: 1,
      pending: 1,
      running: 1,
      oldestPendingAt: oldest?.dueAt,
    });
    assert.deepEqual([busy?.name, busy?.pending], ['busy', 1]);
    assert.deepEqual(idle, { ...none, name: 'idle', maxRunning: 7, oldestPendingAt: null });
  });
}
