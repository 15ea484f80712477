import assert from 'node:assert/strict';
import { aJob, aWorker, LEASE_MS } from './kit/builders.ts';
import { beat, claim, claimOne, forever, register, retireWorkers, submit, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;

export function exerciseWorkers(open: OpenStore): void {
  const test = withStore(open);

  test('workers: a registered worker is online, with every field that it registered', async ({ store }) => {
    const profile = aWorker({
      name: 'ü worker',
      attachment: 'local',
      instanceId: 'i-9',
      host: 'host-9',
      pid: null,
      address: '10.0.0.1',
      slots: 32,
      queues: ['a', 'b'],
      commands: false,
      handlers: ['h', 'g'],
      tags: ['gpu'],
      resources: { memory_mb: 2_048, gpu: 0.5 },
      leaseMs: 12_345,
      version: '1.2.3',
    });
    const worker = await store.registerWorker(profile, forever);
    const { id, registeredAt, seenAt, ...rest } = worker;
    assert.ok(id > 0);
    assert.equal(registeredAt, seenAt);
    assert.deepEqual(rest, { ...profile, state: 'online', running: 0, used: {}, reserved: null });
    assert.deepEqual(await store.workers(forever), [worker]);
  });

  test('workers: offline workers that hold nothing make room, the longest silent first', async ({ store, advance }) => {
    const [first, second, holder] = [await register(store), await register(store), await claimOne(store, aJob())];
    await store.leaveWorker(second.id, forever);
    await advance(1_000);
    const [third, online] = [await register(store), await register(store)];
    await beat(store, first.id, []);
    await store.leaveWorker(first.id, forever);
    await store.leaveWorker(third.id, forever);
    await store.leaveWorker(holder.workerId, forever);
    const known = async () => new Set((await store.workers(forever)).map(({ id }) => id));
    assert.equal(await store.limitWorkers(5, forever), 5, 'all fit');
    assert.equal(await store.limitWorkers(4, forever), 4);
    assert.deepEqual(await known(), new Set([first.id, holder.workerId, third.id, online.id]));
    assert.equal(await store.limitWorkers(0, forever), 2, 'those that are online or hold jobs stay');
    assert.deepEqual(await known(), new Set([holder.workerId, online.id]));
  });

  test('workers: those of one caller are counted while they are not offline', async ({ store }) => {
    const workerOf = (registeredBy: string | null) => store.registerWorker(aWorker({ registeredBy }), forever);
    const [first, second] = [await workerOf('ada'), await workerOf('ada'), await workerOf('bob'), await workerOf(null)];
    assert.equal(await store.countWorkersOf('ada', forever), 2);
    await store.drainWorker(first.id, forever);
    await store.leaveWorker(second.id, forever);
    assert.equal(await store.countWorkersOf('ada', forever), 1, 'a draining one counts');
    assert.equal(await store.countWorkersOf('bob', forever), 1);
    assert.equal(await store.countWorkersOf('nobody', forever), 0);
  });

  test('workers: every registration gets a new id', async ({ store }) => {
    const all = await Promise.all(Array.from({ length: 5 }, () => register(store)));
    assert.equal(new Set(all.map(({ id }) => id)).size, 5);
    const listed = await store.workers(forever);
    assert.deepEqual(
      listed.map(({ id }) => id),
      all.map(({ id }) => id).sort((a, b) => a - b),
    );
  });

  test('workers: a worker is listed with its number of running jobs', async ({ store }) => {
    const one = await claimOne(store, aJob());
    await claimOne(store, aJob(), one.workerId);
    const two = await claimOne(store, aJob());
    await succeed(store, two);
    assert.deepEqual(
      (await store.workers(forever)).map(({ running }) => running),
      [2, 0],
    );
  });

  test('workers: drain marks a worker as draining', async ({ store }) => {
    const { id } = await register(store);
    await register(store);
    assert.equal((await store.drainWorker(id, forever))?.state, 'draining');
    assert.deepEqual(
      (await store.workers(forever)).map(({ state }) => state),
      ['draining', 'online'],
    );
    assert.equal(await store.drainWorker(9_999, forever), undefined);
  });

  test('workers: undrain takes a drain back: it is online, hears it, and is given jobs', async ({ store }) => {
    await submit(store, [aJob()]);
    const { id } = await register(store);
    await store.drainWorker(id, forever);
    assert.deepEqual(await claim(store, id), []);
    assert.equal((await store.undrainWorker(id, forever))?.state, 'online');
    assert.equal((await beat(store, id, []))?.drain, false);
    assert.equal((await claim(store, id)).length, 1);
    assert.equal((await store.undrainWorker(id, forever))?.state, 'online', 'a second time changes nothing');
    assert.equal(await store.undrainWorker(9_999, forever), undefined);
  });

  test('workers: an offline worker stays offline when it is undrained, and is online when it comes back', async ({
    store,
  }) => {
    const { id } = await register(store);
    await store.drainWorker(id, forever);
    await store.leaveWorker(id, forever);
    assert.equal((await store.undrainWorker(id, forever))?.state, 'offline');
    assert.equal((await beat(store, id, []))?.drain, false);
    assert.equal((await store.workers(forever))[0]?.state, 'online');
  });

  test('workers: a worker that leaves is offline at once', async ({ store }) => {
    const { id } = await register(store);
    await store.leaveWorker(id, forever);
    assert.equal((await store.workers(forever))[0]?.state, 'offline');
    await store.leaveWorker(9_999, forever);
  });

  test('workers: a silent worker is marked offline once, and a heartbeat brings it back', async ({
    store,
    advance,
  }) => {
    const { id } = await register(store);
    const other = await register(store, { leaseMs: LEASE_MS * 10 });
    assert.deepEqual(await retireWorkers(store, DAY_MS), []);
    await advance(LEASE_MS + 1_000);
    assert.deepEqual(await retireWorkers(store, DAY_MS), [id]);
    assert.deepEqual(await retireWorkers(store, DAY_MS), []);
    assert.deepEqual(
      (await store.workers(forever)).map(({ state }) => state),
      ['offline', 'online'],
    );
    assert.deepEqual(await beat(store, id, []), { cancel: [], lost: [], drain: false, returned: [] });
    assert.equal((await store.workers(forever)).find((worker) => worker.id === id)?.state, 'online');
    assert.ok(other.id !== id);
  });

  test('workers: a draining worker that comes back is still draining', async ({ store, advance }) => {
    const { id } = await register(store);
    await store.drainWorker(id, forever);
    await advance(LEASE_MS + 1_000);
    assert.deepEqual(await retireWorkers(store, DAY_MS), [id]);
    assert.equal((await beat(store, id, []))?.drain, true);
    assert.equal((await store.workers(forever))[0]?.state, 'draining');
  });

  test('workers: workers that are offline for long are deleted unless they hold leases', async ({ store, advance }) => {
    await register(store);
    const lease = await claimOne(store, aJob());
    const left = await register(store);
    await store.leaveWorker(left.id, forever);
    await advance(DAY_MS - 60_000);
    const fresh = await register(store);
    await retireWorkers(store, DAY_MS);
    assert.equal((await store.workers(forever)).length, 4);
    await advance(120_000);
    await beat(store, fresh.id, []);
    await retireWorkers(store, DAY_MS);
    assert.deepEqual(
      (await store.workers(forever)).map(({ id }) => id),
      [lease.workerId, fresh.id],
    );
    await succeed(store, lease);
    await retireWorkers(store, DAY_MS);
    assert.deepEqual(
      (await store.workers(forever)).map(({ id }) => id),
      [fresh.id],
    );
  });
}
