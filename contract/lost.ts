import assert from 'node:assert/strict';
import { aJob, jobs, LEASE_MS } from './kit/builders.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
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
    assert.deepEqual(await store.findLost({ limit: 10, dead: [] }, forever), []);
    const [worker, other] = await store.workers(forever);
    await beat(store, other?.id ?? 0, [], null);
    await advance(10_000);
    const [found, ...others] = await store.findLost({ limit: 10, dead: [] }, forever);
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
    const lost = await store.findLost({ limit: 10, dead: [] }, forever);
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
    assert.equal((await store.findLost({ limit: 2, dead: [] }, forever)).length, 2);
    assert.equal((await store.findLost({ limit: 10, dead: [] }, forever)).length, 3);
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
    assert.deepEqual(await store.findLost({ limit: 10, dead: [] }, forever), []);
    await advance(LEASE_MS);
    assert.equal((await store.findLost({ limit: 10, dead: [] }, forever)).length, 1);
  });

  test('lost: a worker that has deregistered keeps its leases until they expire', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await store.leaveWorker(lease.workerId, forever);
    assert.deepEqual(await store.findLost({ limit: 10, dead: [] }, forever), []);
    assert.equal((await loseLeases(store, advance)).length, 1);
  });

  test('lost: a lease ends only if it could have been renewed for its whole length while the clock was watched', async ({
    store,
    advance,
  }) => {
    const { job, workerId } = await claimOne(store, aJob());
    await register(store, { leaseMs: 10 * LEASE_MS });
    await advance(3 * LEASE_MS);
    const at = await store.now(forever);
    const watched = (sinceMs: number) => ({ since: at - sinceMs, at });
    const find = async (sinceMs: number) =>
      ids((await store.findLost({ limit: 10, dead: [], watched: watched(sinceMs) }, forever)).map((lost) => lost.job));
    const retire = (sinceMs: number) => store.retireWorkers({ forgetAfterMs: 1e9, watched: watched(sinceMs) }, forever);
    assert.deepEqual([await find(LEASE_MS - 1_000), await retire(LEASE_MS - 1_000)], [[], []]);
    assert.deepEqual([await find(LEASE_MS), await retire(LEASE_MS)], [[job.id], [workerId]]);
  });

  test('lost: leases are judged at the instant that was watched, however far the clock has gone since', async ({
    store,
    advance,
  }) => {
    const { job, workerId } = await claimOne(store, aJob());
    const at = await store.now(forever);
    const watched = { since: at - 10 * LEASE_MS, at };
    const find = () => store.findLost({ limit: 10, dead: [], watched }, forever);
    await advance(3 * LEASE_MS);
    assert.deepEqual(await find(), []);
    await store.heartbeat({ workerId, leases: [{ jobId: job.id, attempt: 1 }], seenClaim: 1 }, forever);
    assert.deepEqual(await find(), [], 'a heartbeat after that instant is no sign that the clock was set back');
    assert.deepEqual(await store.retireWorkers({ forgetAfterMs: 1e9, watched }, forever), []);
  });

  test('lost: after the clock was set back, a heartbeat far in the future is older than the watch', async ({
    store,
    advance,
  }) => {
    const { job, workerId } = await claimOne(store, aJob());
    await advance(-LEASE_MS / 2);
    const soon = await store.now(forever);
    const nearby = { since: soon - 2 * LEASE_MS, at: soon };
    assert.deepEqual(await store.findLost({ limit: 10, dead: [], watched: nearby }, forever), []);
    await advance(-2 * LEASE_MS);
    const at = await store.now(forever);
    const find = async (since: number) =>
      ids((await store.findLost({ limit: 10, dead: [], watched: { since, at } }, forever)).map((lost) => lost.job));
    assert.deepEqual(await find(at - LEASE_MS + 1_000), []);
    assert.deepEqual(await find(at - LEASE_MS), [job.id]);
    const retired = await store.retireWorkers({ forgetAfterMs: 1e9, watched: { since: at - LEASE_MS, at } }, forever);
    assert.deepEqual(retired, [workerId]);
  });

  test('unlocked: workers that never held a lock are not reported', async ({ store }) => {
    await register(store, { attachment: 'remote' });
    assert.deepEqual((await store.findUnlocked(forever)).workers, []);
  });
}
