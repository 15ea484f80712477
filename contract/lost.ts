import assert from 'node:assert/strict';
import { aJob, jobs, LEASE_MS } from './kit/builders.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
  findLost,
  forever,
  ids,
  loseLeases,
  readOne,
  register,
  submit,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseLost(open: OpenStore): void {
  const test = withStore(open);

  test('lost: the jobs of a silent worker are found once its lease is over, with the time of its last heartbeat', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob());
    await claimOne(store, aJob({ delayMs: null }));
    await advance(LEASE_MS - 5_000);
    assert.deepEqual(await findLost(store), []);
    const [worker, other] = await store.workers(forever);
    await beat(store, other?.id ?? 0, [], null);
    await advance(10_000);
    const [found, ...others] = await findLost(store);
    assert.deepEqual(others, []);
    assert.deepEqual(found, { job: await readOne(store, lease.job.id), workerSeenAt: worker?.seenAt });
  });

  test('lost: each worker has its own lease length', async ({ store, advance }) => {
    await submit(store, jobs(2));
    const short = await register(store, { leaseMs: 5_000 });
    const long = await register(store, { leaseMs: 120_000 });
    const [a] = await claim(store, short.id, { limit: 1 });
    await claim(store, long.id, { limit: 1 });
    await advance(60_000);
    const lost = await findLost(store);
    assert.deepEqual(ids(lost.map(({ job }) => job)), [a?.id]);
  });

  test('lost: the jobs of workers known to be dead are found at once', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await claimOne(store, aJob());
    const lost = await store.findLost({ limit: 10, dead: [lease.workerId, 9_999] }, forever);
    assert.deepEqual(ids(lost.map(({ job }) => job)), [lease.job.id]);
  });

  test('lost: finds running jobs only, and at most as many as the limit', async ({ store, advance }) => {
    await submit(store, jobs(5));
    const { id } = await register(store);
    const [first] = await claim(store, id, { limit: 4 });
    assert.ok(first);
    await succeed(store, { job: first, workerId: id });
    await advance(LEASE_MS * 2);
    assert.equal((await findLost(store, 2)).length, 2);
    assert.equal((await findLost(store)).length, 3);
  });

  test('lost: a job that is taken back is charged one failure and is claimable at once', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const [job] = await loseLeases(store, advance);
    assert.deepEqual([job?.status, job?.failures, job?.losses, job?.attempt], ['pending', 1, 1, 1]);
    assert.match(job?.error ?? '', /vanished/);
    const [record] = await store.attempts(lease.job.id, forever);
    assert.deepEqual([record?.outcome, record?.workerId], ['lost', lease.workerId]);
    assert.deepEqual(await store.findLost({ limit: 10, dead: [lease.workerId] }, forever), []);
    const second = await claimOne(store);
    assert.equal(second.job.attempt, 2);
    const [again] = await loseLeases(store, advance);
    assert.equal(again?.status, 'scheduled', 'only the first loss is claimable at once');
  });

  test('lost: a job with a cancel request ends as cancelled', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await cancel(store, lease.job.id);
    const [job] = await loseLeases(store, advance);
    assert.deepEqual([job?.status, job?.failures], ['cancelled', 0]);
    assert.deepEqual(await succeed(store, lease), { result: 'lease_lost' });
  });

  test('lost: the lease of a claim without a number starts with the claim', async ({ store, advance }) => {
    const { id } = await register(store);
    await submit(store, jobs(1));
    await advance(LEASE_MS - 1_000);
    await claim(store, id, { claimSeq: null });
    await advance(10_000);
    assert.deepEqual(await findLost(store), []);
    await advance(LEASE_MS);
    assert.equal((await findLost(store)).length, 1);
  });

  test('lost: a worker that has deregistered keeps its leases until they expire', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await store.leaveWorker(lease.workerId, forever);
    assert.deepEqual(await findLost(store), []);
    assert.equal((await loseLeases(store, advance)).length, 1);
  });

  test('leases: each worker that is online or holds jobs has one, and each job that is renewed on its own', async ({
    store,
    advance,
  }) => {
    const { job, workerId } = await claimOne(store, aJob());
    const idle = await register(store, { leaseMs: 5_000 });
    const left = await register(store);
    await store.leaveWorker(left.id, forever);
    await store.leaveWorker(workerId, forever);
    await advance(1_000);
    await submit(store, jobs(1));
    const [own] = await claim(store, idle.id, { claimSeq: null });
    const worker = async (id: number) => ({ workerId: id, heardAt: (await store.worker(id, forever))?.seenAt });
    assert.deepEqual(
      (await store.leases(forever)).toSorted((a, b) => a.workerId - b.workerId || (a.jobId ?? 0) - (b.jobId ?? 0)),
      [
        { ...(await worker(workerId)), jobId: null, leaseMs: LEASE_MS },
        { ...(await worker(idle.id)), jobId: null, leaseMs: 5_000 },
        { workerId: idle.id, jobId: own?.id, heardAt: own?.startedAt, leaseMs: 5_000 },
      ],
    );
    await store.leaveWorker(idle.id, forever);
    await succeed(store, { job, workerId });
    const held = (await store.leases(forever)).map((lease) => [lease.workerId, lease.jobId]);
    assert.deepEqual(
      held.toSorted((a, b) => (a[1] ?? 0) - (b[1] ?? 0)),
      [
        [idle.id, null],
        [idle.id, own?.id],
      ],
    );
  });

  test('lost: leases are judged by whoever asks, whatever the clock says, and not if they were renewed since', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob());
    const { id } = await register(store);
    await submit(store, jobs(1));
    const [own] = await claim(store, id, { claimSeq: null });
    assert.ok(own);
    const silent = await store.leases(forever);
    const find = async () => ids((await store.findLost({ limit: 10, silent }, forever)).map(({ job }) => job));
    const retire = () => store.retireWorkers({ forgetAfterMs: 1e9, silent }, forever);
    assert.deepEqual(await find(), [lease.job.id, own.id]);
    await advance(-3_600_000);
    assert.deepEqual(await find(), [lease.job.id, own.id]);
    await beat(store, lease.workerId, [lease], 1);
    await beat(store, id, [], null);
    assert.deepEqual(await find(), [own.id], 'the worker is heard, but does not list this job');
    await beat(store, id, [{ job: own, workerId: id }], null);
    assert.deepEqual([await find(), await retire()], [[], []]);
    await advance(7_200_000);
    assert.deepEqual([await find(), await retire()], [[], []]);
  });

  test('unlocked: workers that never held a lock are not reported', async ({ store }) => {
    await register(store, { attachment: 'remote' });
    assert.deepEqual((await store.findUnlocked(forever)).workers, []);
  });
}
