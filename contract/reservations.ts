import assert from 'node:assert/strict';
import { offerOf } from '../src/core/outlook.ts';
import type { NewWorker, WorkerRow } from '../src/core/worker.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, LEASE_MS } from './kit/builders.ts';
import { beat, claim, decide, forever, ids, type Lease, register, submit, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const MINUTE_MS = 60_000;

function gpuWorker(store: Store, wanted: Partial<NewWorker> = {}): Promise<WorkerRow> {
  return register(store, { slots: 8, resources: { gpu: 2 }, leaseMs: 20 * LEASE_MS, ...wanted });
}

/** Claims with what the store believes to be free at the worker, or with `free` of it. */
async function claimFree(store: Store, workerId: number, free?: Record<string, number>): Promise<Lease[]> {
  const worker = await rowOf(store, workerId);
  const offer = { ...offerOf(worker), ...(free === undefined ? {} : { free }) };
  const jobs = await claim(store, workerId, { offer, limit: worker.slots - worker.running });
  return jobs.map((job) => ({ job, workerId }));
}

async function rowOf(store: Store, workerId: number): Promise<WorkerRow> {
  const worker = (await store.workers(forever)).find(({ id }) => id === workerId);
  assert.ok(worker);
  return worker;
}

function taken(leases: readonly Lease[]): number[] {
  return leases.map(({ job }) => job.id);
}

async function reservedAt(store: Store, workerId: number): Promise<number | undefined> {
  return (await rowOf(store, workerId)).reserved?.jobId;
}

export function exerciseReservations(open: OpenStore): void {
  const test = withStore(open);
  const gpu = (amount: number, more = {}) => aJob({ resources: { gpu: amount }, ...more });

  test('reserve: a stream of small jobs does not keep a large one from starting', async ({ store, advance }) => {
    const { id } = await gpuWorker(store);
    await submit(store, [gpu(1), gpu(1)]);
    const running = await claimFree(store, id);
    const big = await submitOne(store, gpu(2, { priority: 1_000 }));
    for (let round = 0; round < 5; round += 1) {
      await advance(1_000);
      await submit(store, [gpu(1), gpu(1)]);
      if (running.length > 0) await succeed(store, running.shift() as Lease);
      const got = taken(await claimFree(store, id));
      if (running.length > 0) assert.deepEqual(got, []);
      else return assert.deepEqual(got, [big.id]);
    }
    assert.fail('the large job has not started');
  });

  test('reserve: the job, its needs and its expected start are listed with the worker', async ({ store }) => {
    const { id } = await gpuWorker(store);
    await submit(store, [gpu(1, { timeoutMs: 40_000, killGraceMs: 5_000 })]);
    const [small] = await claimFree(store, id);
    const big = await submitOne(store, gpu(2));
    assert.deepEqual(await claimFree(store, id), []);
    const { used, reserved } = await rowOf(store, id);
    assert.deepEqual(used, { gpu: 1 });
    const startsAt = (small?.job.startedAt ?? 0) + 45_000;
    assert.deepEqual(reserved, { jobId: big.id, startsAt, resources: { gpu: 2 } });
    await succeed(store, small as Lease);
    assert.deepEqual(taken(await claimFree(store, id)), [big.id]);
    assert.equal((await rowOf(store, id)).reserved, null);
  });

  test('reserve: a job passes if it ends before the reserved one is expected to start, and only then', async ({
    store,
  }) => {
    const { id } = await gpuWorker(store);
    await submit(store, [gpu(1, { timeoutMs: 10 * MINUTE_MS, killGraceMs: 0 })]);
    await claimFree(store, id);
    await submit(store, [gpu(2)]);
    const times = [
      { timeoutMs: 10 * MINUTE_MS, killGraceMs: 1_000, requires: ['a'] },
      { timeoutMs: 9 * MINUTE_MS, killGraceMs: 30_000, requires: ['b'], onDisconnect: 'finish' as const },
      { timeoutMs: 9 * MINUTE_MS, killGraceMs: 30_000, requires: ['c'] },
    ];
    const [, , short] = await submit(
      store,
      times.map((time) => gpu(1, time)),
    );
    const offer = anOffer({ free: { gpu: 1 }, tags: ['a', 'b', 'c'] });
    assert.deepEqual(ids(await claim(store, id, { offer })), [short?.id]);
  });

  test('reserve: a job passes if it takes only what the reserved one leaves', async ({ store }) => {
    const { id } = await gpuWorker(store, { resources: { gpu: 2, disk: 3 } });
    await submit(store, [gpu(1)]);
    await claimFree(store, id);
    await submit(store, [aJob({ resources: { gpu: 2, disk: 1 } })]);
    const long = { timeoutMs: 100 * MINUTE_MS };
    const [one, two] = await submit(store, [
      aJob({ resources: { disk: 1 }, ...long }),
      aJob({ resources: { disk: 1 }, ...long }),
      aJob({ resources: { disk: 1 }, ...long }),
    ]);
    assert.deepEqual(taken(await claimFree(store, id)), [one?.id, two?.id]);
    const plain = await submitOne(store, aJob(long));
    assert.deepEqual(taken(await claimFree(store, id)), [plain.id]);
  });

  test('reserve: nothing passes while a run without a known end has to end first', async ({ store }) => {
    const { id } = await gpuWorker(store);
    await submit(store, [gpu(1, { onDisconnect: 'finish' })]);
    await claimFree(store, id);
    await submit(store, [gpu(2), gpu(1, { timeoutMs: 1_000, killGraceMs: 0 })]);
    assert.deepEqual(await claimFree(store, id), []);
    assert.equal((await rowOf(store, id)).reserved?.startsAt, null);

    // A handler that ignores its signal: the worker has less free than the store knows.
    const other = await gpuWorker(store, { queues: ['stuck'] });
    await submit(store, [gpu(2, { queue: 'stuck' }), gpu(1, { queue: 'stuck', timeoutMs: 1_000, killGraceMs: 0 })]);
    assert.deepEqual(await claimFree(store, other.id, { gpu: 1 }), []);
    assert.equal((await rowOf(store, other.id)).reserved?.startsAt, null);
  });

  test('reserve: is over when the job is cancelled, edited, or started elsewhere', async ({ store }) => {
    const { id } = await gpuWorker(store);
    await submit(store, [gpu(1)]);
    await claimFree(store, id);
    for (const over of ['cancelled', 'edited', 'elsewhere'] as const) {
      const big = await submitOne(store, gpu(2, { priority: 5 }));
      const small = await submitOne(store, gpu(1, { timeoutMs: 100 * MINUTE_MS }));
      assert.deepEqual(await claimFree(store, id), []);
      assert.equal(await reservedAt(store, id), big.id);
      if (over === 'cancelled') await decide(store, big.id, { type: 'cancel' });
      if (over === 'edited') await store.edit(big.id, { priority: -5 }, forever);
      if (over === 'elsewhere') {
        const idle = await gpuWorker(store);
        assert.deepEqual(taken(await claimFree(store, idle.id)), [big.id]);
      }
      const [passed] = await claimFree(store, id);
      assert.equal(passed?.job.id, small.id, over);
      await succeed(store, passed);
      if (over === 'edited') await decide(store, big.id, { type: 'cancel' });
    }
  });

  test('reserve: one job is reserved at one worker, where it can start first', async ({ store }) => {
    const [late, early] = [await gpuWorker(store), await gpuWorker(store)];
    await submit(store, [gpu(1, { timeoutMs: 20 * MINUTE_MS })]);
    await claimFree(store, late.id);
    await submit(store, [gpu(1, { timeoutMs: 10 * MINUTE_MS })]);
    // Both workers hold a small job now.
    const hold = await claimFree(store, early.id);
    assert.equal(hold.length, 1);
    const big = await submitOne(store, gpu(2));
    assert.deepEqual(await claimFree(store, late.id), []);
    assert.equal(await reservedAt(store, late.id), big.id);
    assert.deepEqual(await claimFree(store, early.id), []);
    assert.equal(await reservedAt(store, early.id), big.id);
    const small = await submitOne(store, gpu(1, { timeoutMs: 100 * MINUTE_MS }));
    assert.deepEqual(taken(await claimFree(store, late.id)), [small.id], 'it is no longer reserved here');
    assert.equal(await reservedAt(store, late.id), undefined);
    await claimFree(store, early.id);
    assert.equal(await reservedAt(store, early.id), big.id);
  });

  test('reserve: a worker that is lost, silent or draining reserves nothing', async ({ store, advance }) => {
    const gone = await gpuWorker(store, { leaseMs: LEASE_MS });
    const other = await gpuWorker(store);
    await submit(store, [gpu(1, { timeoutMs: MINUTE_MS })]);
    await claimFree(store, gone.id);
    await submit(store, [gpu(1, { timeoutMs: 50 * MINUTE_MS })]);
    const [hold] = await claimFree(store, other.id);
    const big = await submitOne(store, gpu(2));
    await claimFree(store, gone.id);
    await claimFree(store, other.id);
    assert.deepEqual([await reservedAt(store, gone.id), await reservedAt(store, other.id)], [big.id, undefined]);
    await advance(LEASE_MS + 1_000);
    await beat(store, other.id, [hold as Lease]);
    await claimFree(store, other.id);
    assert.deepEqual([await reservedAt(store, gone.id), await reservedAt(store, other.id)], [undefined, big.id]);
    await store.drainWorker(other.id, forever);
    assert.equal(await reservedAt(store, other.id), undefined);
  });

  test('reserve: a job that no worker is large enough for blocks no other job', async ({ store }) => {
    const { id } = await gpuWorker(store);
    const [, small] = await submit(store, [gpu(3, { priority: 9 }), gpu(1), gpu(1)]);
    assert.equal(taken(await claimFree(store, id))[0], small?.id);
    assert.equal(await reservedAt(store, id), undefined);
  });

  test('reserve: a job in a paused or full queue blocks no other job', async ({ store }) => {
    const { id } = await gpuWorker(store);
    await submit(store, [gpu(1)]);
    await claimFree(store, id);
    await store.setQueue('paused', { paused: true }, forever);
    await store.setQueue('full', { maxRunning: 0 }, forever);
    const big = { priority: 9 };
    const [, , small] = await submit(store, [
      gpu(2, { ...big, queue: 'paused' }),
      gpu(2, { ...big, queue: 'full' }),
      gpu(1),
    ]);
    assert.deepEqual(taken(await claimFree(store, id)), [small?.id]);
  });

  test('reserve: a job that the same claim starts counts once', async ({ store }) => {
    const { id } = await gpuWorker(store, { resources: { gpu: 3 } });
    const [, big] = await submit(store, [gpu(1), gpu(2)]);
    // A handler that ignores its signal still uses two.
    assert.equal((await claimFree(store, id, { gpu: 1 })).length, 1);
    const { reserved } = await rowOf(store, id);
    assert.deepEqual(
      [reserved?.jobId, reserved?.startsAt],
      [big?.id, null],
      'nobody knows when the other two are free',
    );
  });

  test('reserve: a job that has waited for a rate reserves as any other', async ({ store, advance }) => {
    const { id } = await gpuWorker(store, { leaseMs: 1_000 * LEASE_MS });
    const rates = [{ key: 'r', limit: 1, perMs: MINUTE_MS, burst: 0 }];
    await submit(store, [gpu(1, { rates, timeoutMs: 100 * MINUTE_MS })]);
    await claimFree(store, id);
    const big = await submitOne(store, gpu(2, { rates, priority: 1 }));
    await claimFree(store, id);
    assert.equal(await reservedAt(store, id), undefined, 'its rate is full');
    await advance(2 * MINUTE_MS);
    const small = await submitOne(store, gpu(1, { timeoutMs: 200 * MINUTE_MS }));
    assert.deepEqual(taken(await claimFree(store, id)), []);
    assert.equal(await reservedAt(store, id), big.id);
    const [outlook] = await store.outlook(small.id, forever);
    assert.deepEqual([outlook?.obstacle, outlook?.reservation?.jobId], ['reserved', big.id]);
  });

  test('outlook: is empty for a job that cannot be claimed, and names what the worker has free', async ({ store }) => {
    const { id } = await gpuWorker(store);
    const later = await submitOne(store, gpu(1, { delayMs: MINUTE_MS }));
    assert.deepEqual(await store.outlook(later.id, forever), []);
    assert.deepEqual(await store.outlook(later.id + 1_000, forever), []);
    await submit(store, [gpu(1)]);
    await claimFree(store, id);
    const [big, small] = await submit(store, [gpu(2), gpu(1, { timeoutMs: 100 * MINUTE_MS })]);
    const [ofBig] = await store.outlook(big?.id ?? 0, forever);
    const [ofSmall] = await store.outlook(small?.id ?? 0, forever);
    assert.deepEqual([ofBig?.obstacle, ofSmall?.obstacle, ofBig?.free], ['short', 'reserved', { gpu: 1 }]);
    assert.equal(ofSmall?.reservation?.jobId, big?.id);
    assert.equal(await reservedAt(store, id), undefined, 'looking reserves nothing');
  });
}
