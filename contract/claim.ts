import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import { DEFAULT_SPEC, type JobSpec } from '../src/core/job.ts';
import { aJob, anOffer, jobs, LEASE_MS } from './kit/builders.ts';
import { nextHint } from './kit/hints.ts';
import { beat, claim, claimOne, decide, forever, ids, readOne, register, submit, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseClaim(open: OpenStore): void {
  const test = withStore(open);

  test('claim: the worker gets the spec and a lease, and the job is running', async ({ store }) => {
    const job = await submitOne(store, aJob({ command: 'echo hi', env: { A: '1' }, timeoutMs: 77, tags: ['t'] }));
    const worker = await register(store);
    const [claimed, ...others] = await claim(store, worker.id);

    assert.ok(claimed);
    assert.deepEqual(others, []);
    const { startedAt, ...rest } = claimed;
    const { id, failures, dueAt } = job;
    const properties = Object.keys(DEFAULT_SPEC) as (keyof JobSpec)[];
    const spec = Object.fromEntries(properties.map((property) => [property, job[property]]));
    assert.deepEqual(rest, { ...spec, id, failures, dueAt, attempt: 1, runContext: null });
    assert.ok(startedAt >= dueAt);

    const running = await readOne(store, id);
    assert.equal(running.status, 'running');
    assert.equal(running.attempt, 1);
    assert.equal(running.workerId, worker.id);
    assert.equal(running.startedAt, startedAt);
    assert.ok(running.lastHeartbeatAt !== null && running.lastHeartbeatAt >= worker.seenAt);
  });

  test('claim: a worker whose lease is over is given nothing until it is heard again', async ({ store, advance }) => {
    await submit(store, jobs(2, { handler: 'h' }));
    const offer = anOffer({ handlers: ['h'] });
    const { id } = await register(store);
    await advance(LEASE_MS + 1_000);
    for (const prefetch of [false, true]) assert.deepEqual(await claim(store, id, { offer, prefetch }), []);
    const other = await register(store, { leaseMs: 2 * LEASE_MS });
    await advance(LEASE_MS + 1_000);
    assert.equal((await claim(store, other.id, { offer, limit: 1 })).length, 1);
    const work = nextHint(store, 'work');
    await beat(store, id, []);
    await work;
    assert.equal((await claim(store, id, { offer })).length, 1);
  });

  test('claim: no job is given to two claimers', async ({ store }) => {
    await submit(store, jobs(5));
    const workers = await Promise.all(Array.from({ length: 10 }, () => register(store)));
    const claimed = await Promise.all(workers.map(({ id }) => claim(store, id, { limit: 1 })));

    assert.equal(new Set(ids(claimed.flat())).size, claimed.flat().length);
    // A claimer that competes with others for the same rows may get nothing; the rest can be claimed at once.
    const rest = await claim(store, workers[0]?.id ?? 0);
    assert.equal(new Set(ids([...claimed.flat(), ...rest])).size, 5);
    for (const job of await store.list({}, { before: null, limit: 10 }, forever)) assert.equal(job.attempt, 1);
  });

  test('claim: ten claimers with batches get all jobs, each exactly once', async ({ store }) => {
    await submit(store, jobs(60));
    const workers = await Promise.all(Array.from({ length: 10 }, () => register(store)));
    const claimed: number[] = [];
    const drain = async (workerId: number) => {
      for (let misses = 0; misses < 3; ) {
        const got = await claim(store, workerId, { limit: 7 });
        claimed.push(...ids(got));
        misses = got.length === 0 ? misses + 1 : 0;
      }
    };
    await Promise.all(workers.map(({ id }) => drain(id)));
    assert.equal(claimed.length, 60);
    assert.equal(new Set(claimed).size, 60);
  });

  test('claim: returns at most as many jobs as the limit', async ({ store }) => {
    await submit(store, jobs(5));
    const { id } = await register(store);
    assert.equal((await claim(store, id, { limit: 0 })).length, 0);
    assert.equal((await claim(store, id, { limit: 2 })).length, 2);
    assert.equal((await claim(store, id, { limit: 9 })).length, 3);
    assert.equal((await claim(store, id, { limit: 9 })).length, 0);
  });

  test('claim: a job that is scheduled, running or ended is not claimable', async ({ store }) => {
    const { id } = await register(store);
    const [, gone] = await submit(store, [aJob({ delayMs: 60_000 }), aJob(), aJob()]);
    await decide(store, gone?.id ?? 0, { type: 'cancel' });
    assert.equal((await claim(store, id)).length, 1);
    assert.deepEqual(await claim(store, id), []);
  });

  test('claim: an unknown or offline worker must register first', async ({ store }) => {
    await submit(store, jobs(1));
    const { id } = await register(store);
    await store.leaveWorker(id, forever);
    for (const workerId of [id, 9_999]) {
      await assert.rejects(claim(store, workerId), (error) => isWorkronError(error, 'worker_not_found'));
    }
    await beat(store, id, []);
    assert.equal((await claim(store, id)).length, 1);
  });

  test('claim: a draining worker gets nothing', async ({ store }) => {
    await submit(store, jobs(1));
    const { id } = await register(store);
    await store.drainWorker(id, forever);
    assert.deepEqual(await claim(store, id), []);
  });

  test('claim: every claim increments the attempt', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    for (const expected of [2, 3, 4]) {
      await decide(store, lease.job.id, { type: 'settle', outcome: { type: 'interrupted', error: 'drained' } });
      await advance(1);
      assert.equal((await claimOne(store, null, lease.workerId)).job.attempt, expected);
    }
  });

  test('claim: an empty offer gets nothing', async ({ store }) => {
    await submit(store, [aJob(), aJob({ handler: 'h' })]);
    const { id } = await register(store);
    assert.deepEqual(await claim(store, id, { offer: anOffer({ commands: false }) }), []);
    assert.deepEqual(await claim(store, id, { offer: anOffer({ queues: [], handlers: ['h'] }) }), []);
  });
}
