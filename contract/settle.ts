import assert from 'node:assert/strict';
import { aJob, jobs, LEASE_MS } from './kit/builders.ts';
import {
  cancel,
  claim,
  claimOne,
  fail,
  forever,
  loseLeases,
  readOne,
  register,
  submit,
  submitOne,
  succeed,
  success,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseSettle(open: OpenStore): void {
  const test = withStore(open);

  test('settle: ends the job as done with its result, and returns its times', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob({ queue: 'q' }));
    await advance(2_000);
    const answer = await succeed(store, lease, { rows: [1, 2], ok: true });

    const job = await readOne(store, lease.job.id);
    assert.equal(job.status, 'done');
    assert.deepEqual([job.reason, job.error, job.exitCode, job.signal], [null, null, 0, null]);
    assert.deepEqual(job.result, { rows: [1, 2], ok: true });
    assert.equal(job.workerId, lease.workerId);
    assert.equal(job.lastHeartbeatAt, null);
    assert.equal(job.startedAt, lease.job.startedAt);
    assert.ok((job.doneAt ?? 0) >= lease.job.startedAt + 2_000);
    assert.deepEqual(answer, {
      result: 'ok',
      fresh: true,
      queue: 'q',
      dueAt: lease.job.dueAt,
      startedAt: lease.job.startedAt,
      endedAt: job.doneAt,
    });
  });

  test('settle: falsy results are stored, and a result may be missing', async ({ store }) => {
    for (const result of [0, false, '', [], 'text', null]) {
      const lease = await claimOne(store, aJob());
      await succeed(store, lease, result);
      assert.deepEqual((await readOne(store, lease.job.id)).result, result);
    }
    const lease = await claimOne(store, aJob());
    await store.settle([{ ...success(lease), exitCode: null }], forever);
    const job = await readOne(store, lease.job.id);
    assert.deepEqual([job.result, job.exitCode, job.status], [null, null, 'done']);
  });

  test('settle: repeating a call returns the first reply and changes nothing', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const first = await succeed(store, lease, 'first');
    const ended = await readOne(store, lease.job.id);
    await advance(1_000);
    assert.deepEqual(await succeed(store, lease, 'second'), { ...first, fresh: false });
    assert.deepEqual(await readOne(store, lease.job.id), ended);
    assert.equal((await store.attempts(lease.job.id, forever)).length, 1);
  });

  test('settle: a worker that has lost its lease cannot settle the job', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    await loseLeases(store, advance);
    assert.deepEqual(await succeed(store, first), { result: 'lease_lost' });
    assert.equal((await readOne(store, first.job.id)).status, 'pending');

    const second = await claimOne(store);
    assert.equal(second.job.id, first.job.id);
    assert.deepEqual(await succeed(store, first), { result: 'lease_lost' });
    assert.equal((await succeed(store, second)).result, 'ok');
    assert.deepEqual(await succeed(store, first), { result: 'lease_lost' });
  });

  test('settle: a worker cannot settle an earlier attempt of its own', async ({ store }) => {
    const first = await claimOne(store, aJob({ backoff: { type: 'none', baseMs: 0, factor: 1, capMs: 0, jitter: 0 } }));
    await fail(store, first);
    const second = await claimOne(store, null, first.workerId);
    assert.equal(second.job.attempt, 2);
    assert.deepEqual(await succeed(store, first), { result: 'lease_lost' });
    assert.equal((await readOne(store, first.job.id)).status, 'running');
  });

  test('settle: another worker cannot settle the job, before or after its end', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const { id } = await register(store);
    assert.deepEqual(await succeed(store, { ...lease, workerId: id }), { result: 'lease_lost' });
    assert.equal((await readOne(store, lease.job.id)).status, 'running');
    await succeed(store, lease);
    assert.deepEqual(await succeed(store, { ...lease, workerId: id }), { result: 'lease_lost' });
  });

  test('settle: an expired lease is valid until the job is taken back', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await advance(LEASE_MS * 10);
    assert.equal((await succeed(store, lease)).result, 'ok');
  });

  test('settle: a job with a cancel request that has succeeded is done', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await cancel(store, lease.job.id);
    assert.equal((await succeed(store, lease)).result, 'ok');
    const job = await readOne(store, lease.job.id);
    assert.equal(job.status, 'done');
    assert.ok(job.cancelRequestedAt !== null);
  });

  test('settle: a job that has failed, waits or does not exist is not settled', async ({ store }) => {
    const failed = await claimOne(store, aJob({ maxAttempts: 1 }));
    await fail(store, failed);
    const waiting = await submitOne(store, aJob());
    const answers = await store.settle(
      [
        success(failed),
        { jobId: waiting.id, attempt: 0, workerId: failed.workerId, exitCode: 0 },
        { jobId: waiting.id, attempt: 1, workerId: failed.workerId, exitCode: 0 },
        { jobId: 999_999, attempt: 1, workerId: failed.workerId, exitCode: 0 },
      ],
      forever,
    );
    assert.deepEqual(
      answers.map(({ result }) => result),
      Array(4).fill('lease_lost'),
    );
    assert.equal((await readOne(store, failed.job.id)).status, 'failed');
    assert.equal((await readOne(store, waiting.id)).status, 'pending');
  });

  test('settle: a batch is answered in order, and refused items do not affect the others', async ({ store }) => {
    await submit(store, jobs(3));
    const { id } = await register(store);
    const [a, b, c] = (await claim(store, id)).map((job) => ({ job, workerId: id }));
    assert.ok(a && b && c);
    await succeed(store, b);
    const answers = await store.settle(
      [success(c, 'c'), success({ ...a, workerId: 9_999 }), success(b), success(c, 'twice'), success(a, 'a')],
      forever,
    );
    assert.deepEqual(
      answers.map((answer) => (answer.result === 'ok' ? answer.fresh : answer.result)),
      [true, 'lease_lost', false, false, true],
    );
    assert.equal((await readOne(store, c.job.id)).result, 'c');
    assert.equal((await readOne(store, a.job.id)).result, 'a');
    assert.equal((await store.attempts(c.job.id, forever)).length, 1);
    assert.deepEqual(await store.settle([], forever), []);
  });

  test('settle: concurrent reports of one attempt are accepted once', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const answers = await Promise.all(Array.from({ length: 8 }, () => succeed(store, lease)));
    assert.equal(answers.filter((answer) => answer.result === 'ok').length, 8);
    assert.equal(answers.filter((answer) => answer.result === 'ok' && answer.fresh).length, 1);
    assert.equal((await store.attempts(lease.job.id, forever)).length, 1);
  });

  test('settle: the worker and the queue no longer count the job', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    assert.equal((await store.workers(forever))[0]?.running, 1);
    await succeed(store, lease);
    assert.equal((await store.workers(forever))[0]?.running, 0);
    assert.deepEqual(await store.queues(forever), []);
  });
}
