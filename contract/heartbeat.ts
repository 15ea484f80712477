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

const QUIET = { cancel: [], lost: [], drain: false, returned: [] };

export function exerciseHeartbeat(open: OpenStore): void {
  const test = withStore(open);

  test('heartbeat: renews all leases of the worker', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await advance(LEASE_MS - 5_000);
    assert.deepEqual(await beat(store, lease.workerId, [lease], 1), QUIET);
    await advance(LEASE_MS - 5_000);
    assert.deepEqual(await findLost(store), []);
    await advance(10_000);
    assert.equal((await findLost(store)).length, 1);
  });

  test('heartbeat: is shown on the job and on the worker', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const before = await readOne(store, lease.job.id);
    await advance(5_000);
    await beat(store, lease.workerId, [lease], 1);
    const after = await readOne(store, lease.job.id);
    assert.ok((after.lastHeartbeatAt ?? 0) >= (before.lastHeartbeatAt ?? 0) + 5_000);
    const [worker] = await store.workers(forever);
    assert.ok((worker?.seenAt ?? 0) >= (worker?.registeredAt ?? 0) + 5_000);
  });

  test('heartbeat: an unknown worker must register again', async ({ store }) => {
    assert.equal(await beat(store, 9_999, []), undefined);
  });

  test('heartbeat: a job of a claim that the worker has seen, but which it does not list, is taken back at once', async ({
    store,
    advance,
  }) => {
    const [first, second] = await submit(store, jobs(2));
    const { id } = await register(store);
    const held = await claim(store, id, { limit: 1, claimSeq: 1 });
    await claim(store, id, { limit: 1, claimSeq: 2 });
    await advance(1_000);

    const [job] = held;
    assert.ok(job && first && second);
    const answer = await beat(store, id, [{ job, workerId: id }], 2);
    assert.deepEqual(answer, { ...QUIET, returned: [{ jobId: second.id, attempt: 1 }] });
    const returned = await readOne(store, second.id);
    assert.equal(returned.status, 'pending');
    assert.equal(returned.failures, 0);
    assert.equal(returned.dueAt, second.dueAt, 'the job keeps its place');
    assert.equal((await readOne(store, first.id)).status, 'running');
    const [record] = await store.attempts(second.id, forever);
    assert.deepEqual([record?.attempt, record?.outcome, record?.workerId], [1, 'returned', id]);
    assert.equal((await claimOne(store, null, id)).job.attempt, 2);
  });

  test('heartbeat: a heartbeat that overtakes the reply of a claim takes nothing back', async ({ store }) => {
    await submit(store, jobs(2));
    const { id } = await register(store);
    const [job] = await claim(store, id, { limit: 1, claimSeq: 4 });
    assert.ok(job);
    const inFlight = await claim(store, id, { limit: 1, claimSeq: 5 });
    assert.deepEqual(await beat(store, id, [{ job, workerId: id }], 4), QUIET);
    assert.deepEqual(await beat(store, id, [], null), QUIET);
    assert.equal((await readOne(store, inFlight[0]?.id ?? 0)).status, 'running');
  });

  test('heartbeat: a lease of an earlier attempt does not keep a newer one', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    await loseLeases(store, advance);
    await beat(store, first.workerId, [], null);
    const [again] = await claim(store, first.workerId, { claimSeq: 7 });
    assert.equal(again?.attempt, 2);
    const answer = await beat(store, first.workerId, [first], 7);
    assert.deepEqual(answer?.lost, [{ jobId: first.job.id, attempt: 1 }]);
    assert.deepEqual(answer.returned, [{ jobId: first.job.id, attempt: 2 }]);
  });

  test('heartbeat: of two attempts of a job that a worker lists, the older one is lost and the newer one kept', async ({
    store,
    advance,
  }) => {
    const first = await claimOne(store, aJob());
    await loseLeases(store, advance);
    await beat(store, first.workerId, [], null);
    const [job] = await claim(store, first.workerId, { claimSeq: 7 });
    assert.ok(job);
    const second = { job, workerId: first.workerId };
    for (const both of [
      [first, second],
      [second, first],
    ]) {
      const answer = await beat(store, first.workerId, both, 7);
      assert.deepEqual(answer, { ...QUIET, lost: [{ jobId: job.id, attempt: 1 }] });
    }
    assert.equal((await readOne(store, job.id)).status, 'running');
  });

  test('heartbeat: a job with a cancel request is cancelled when it is taken back', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await cancel(store, lease.job.id);
    const answer = await beat(store, lease.workerId, [], 1);
    assert.deepEqual(answer?.returned, [{ jobId: lease.job.id, attempt: 1 }]);
    assert.deepEqual(answer.cancel, []);
    const job = await readOne(store, lease.job.id);
    assert.deepEqual([job.status, job.reason], ['cancelled', 'cancelled']);
    assert.deepEqual(
      (await store.attempts(job.id, forever)).map(({ outcome }) => outcome),
      ['cancelled'],
    );
  });

  test('heartbeat: every reply lists the jobs of the worker that have a cancel request', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const other = await claimOne(store, aJob(), lease.workerId);
    await cancel(store, lease.job.id);
    for (let i = 0; i < 2; i += 1) {
      const answer = await beat(store, lease.workerId, [lease, other], 1);
      assert.deepEqual(answer, { ...QUIET, cancel: [{ jobId: lease.job.id, attempt: 1 }] });
    }
  });

  test('heartbeat: the reply lists the jobs whose lease the worker has lost', async ({ store, advance }) => {
    const settled = await claimOne(store, aJob());
    const lost = await claimOne(store, aJob(), settled.workerId);
    await succeed(store, settled);
    await loseLeases(store, advance);
    const answer = await beat(store, settled.workerId, [settled, lost], 1);
    assert.deepEqual(
      answer?.lost.toSorted((a, b) => a.jobId - b.jobId),
      [settled, lost].map(({ job }) => ({ jobId: job.id, attempt: job.attempt })),
    );
    assert.deepEqual(answer.returned, []);
  });

  test('heartbeat: a heartbeat of another worker changes nothing', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const other = await register(store);
    await advance(LEASE_MS - 5_000);
    const answer = await beat(store, other.id, [lease], 9);
    assert.deepEqual(answer?.lost, [{ jobId: lease.job.id, attempt: 1 }]);
    await advance(10_000);
    assert.equal((await findLost(store)).length, 1);
    assert.equal((await readOne(store, lease.job.id)).workerId, lease.workerId);
  });

  test('heartbeat: without claim numbers each listed lease is renewed on its own', async ({ store, advance }) => {
    await submit(store, jobs(2));
    const { id } = await register(store);
    const [kept, dropped] = await claim(store, id, { claimSeq: null });
    assert.ok(kept && dropped);
    await advance(LEASE_MS - 5_000);
    assert.deepEqual(await beat(store, id, [{ job: kept, workerId: id }], null), QUIET);
    await advance(10_000);
    const lost = await findLost(store);
    assert.deepEqual(ids(lost.map(({ job }) => job)), [dropped.id]);
  });

  test('heartbeat: a job of a claim without a number is never taken back before its lease ends', async ({ store }) => {
    await submit(store, jobs(2));
    const { id } = await register(store);
    const [uncounted] = await claim(store, id, { limit: 1, claimSeq: null });
    const [counted] = await claim(store, id, { limit: 1, claimSeq: 5 });
    const answer = await beat(store, id, [], 5);
    assert.deepEqual(answer?.returned, [{ jobId: counted?.id, attempt: 1 }]);
    assert.equal((await readOne(store, uncounted?.id ?? 0)).status, 'running');
  });

  test('heartbeat: a heartbeat without a list renews all leases of the worker', async ({ store, advance }) => {
    await submit(store, jobs(2));
    const { id } = await register(store);
    const uncounted = await claim(store, id, { claimSeq: null, limit: 1 });
    await claim(store, id, { claimSeq: 3, limit: 1 });
    await cancel(store, uncounted[0]?.id ?? 0);
    await advance(LEASE_MS - 5_000);
    const answer = await store.heartbeat({ workerId: id, leases: null, seenClaim: null }, forever);
    assert.deepEqual(answer, { ...QUIET, cancel: [{ jobId: uncounted[0]?.id, attempt: 1 }] });
    await advance(10_000);
    assert.deepEqual(await findLost(store), []);
  });

  test('heartbeat: an expired lease is renewed if its job has not been taken back', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await advance(LEASE_MS * 3);
    assert.deepEqual(await beat(store, lease.workerId, [lease], 1), QUIET);
    assert.deepEqual(await findLost(store), []);
  });

  test('heartbeat: the reply tells a worker that it is draining, and its leases stay', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await store.drainWorker(lease.workerId, forever);
    assert.deepEqual(await beat(store, lease.workerId, [lease], 1), { ...QUIET, drain: true });
    assert.equal((await succeed(store, lease)).result, 'ok');
  });
}
