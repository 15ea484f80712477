import assert from 'node:assert/strict';
import { type Fence, fenceOf } from '../src/core/fence.ts';
import { DEFAULT_BACKOFF, type Job } from '../src/core/job.ts';
import { type Change, transition } from '../src/core/transition.ts';
import { aJob, jobs } from './kit/builders.ts';
import { after } from './kit/graph.ts';
import {
  beat,
  cancel,
  claim,
  claimOne,
  decide,
  FAILED,
  fail,
  forever,
  readOne,
  register,
  report,
  submit,
  submitOne,
  succeed,
  success,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

function failing(job: Job): Change {
  const change = transition(job, { type: 'settle', outcome: FAILED }, 0.5);
  assert.ok(change);
  return change;
}

export function exerciseChanges(open: OpenStore): void {
  const test = withStore(open);

  test('requeue: a failed attempt is recorded and counted, and the job waits for its backoff', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob());
    await advance(1_000);
    const before = await store.now(forever);
    const job = await fail(store, lease);
    assert.ok(job);
    assert.deepEqual([job.status, job.failures, job.attempt], ['scheduled', 1, 1]);
    assert.deepEqual([job.exitCode, job.signal, job.error, job.reason], [7, null, 'exit 7', null]);
    assert.ok(job.dueAt >= before + 5_000);
    assert.deepEqual([job.startedAt, job.workerId], [lease.job.startedAt, lease.workerId]);
    assert.deepEqual([job.doneAt, job.lastHeartbeatAt], [null, null]);
    assert.deepEqual(await readOne(store, job.id), job);

    const [record, ...others] = await store.attempts(job.id, forever);
    assert.deepEqual(others, []);
    const { endedAt, ...rest } = record ?? assert.fail();
    assert.ok(endedAt >= lease.job.startedAt + 1_000);
    assert.deepEqual(rest, {
      jobId: job.id,
      attempt: 1,
      workerId: lease.workerId,
      startedAt: lease.job.startedAt,
      outcome: 'failed',
      exitCode: 7,
      signal: null,
      error: 'exit 7',
      thrown: null,
      usage: null,
    });
  });

  test('settle, requeue, end: what an attempt used is kept with it', async ({ store }) => {
    const usage = { cpuMs: 1_234, maxRssBytes: 5 * 2 ** 30 };
    const small = { cpuMs: 0, maxRssBytes: null };
    const usages = async (id: number) => (await store.attempts(id, forever)).map((attempt) => attempt.usage);
    await report(store, await claimOne(store, aJob({ backoff: { ...DEFAULT_BACKOFF, type: 'none' } })), {
      ...FAILED,
      usage,
    });
    await report(store, await claimOne(store), { type: 'interrupted', error: 'drained', usage: small });
    const last = await report(store, await claimOne(store), { ...FAILED, usage, fatal: true });
    assert.deepEqual(await usages((last as Job).id), [usage, small, usage]);

    const worker = await register(store);
    const parent = await submitOne(store, aJob());
    await submit(store, [after([parent]), ...jobs(3)]);
    const claimed = await claim(store, worker.id);
    const used = [usage, small, undefined, usage];
    await store.settle(
      claimed.map((job, place) => ({ ...success({ job, workerId: worker.id }), usage: used[place] })),
      forever,
    );
    for (const [place, { id }] of claimed.entries()) assert.deepEqual(await usages(id), [used[place] ?? null]);
  });

  test('requeue, end: the error that a handler threw is kept with the attempt, and shown with the job', async ({
    store,
  }) => {
    const thrown = {
      name: 'PaymentError',
      message: 'card “ü” refused',
      code: 'E_CARD',
      details: { order: 7, tries: [1, null] },
      causes: [{ name: 'TypeError', message: 'no answer', code: null }],
    };
    const outcome = { ...FAILED, thrown };
    const first = await report(
      store,
      await claimOne(store, aJob({ backoff: { ...DEFAULT_BACKOFF, type: 'none' } })),
      outcome,
    );
    assert.deepEqual([first?.status, first?.thrown], ['pending', thrown]);
    const last = await report(store, await claimOne(store), { ...outcome, fatal: true });
    assert.deepEqual([last?.status, last?.thrown], ['failed', thrown]);
    assert.deepEqual(await readOne(store, (last as Job).id), last);
    const attempts = await store.attempts((last as Job).id, forever);
    assert.deepEqual(
      attempts.map((attempt) => attempt.thrown),
      [thrown, thrown],
    );
  });

  test('requeue: without a delay the job is pending at once, in its old place', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await advance(1_000);
    const job = await report(store, lease, { type: 'interrupted', error: 'drained' });
    assert.deepEqual([job?.status, job?.interruptions, job?.failures], ['pending', 1, 0]);
    assert.equal(job?.dueAt, lease.job.dueAt);
    const again = await claimOne(store);
    assert.deepEqual([again.job.id, again.job.attempt], [job.id, 2]);
  });

  test('requeue: a running second attempt still shows how the first one failed', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await fail(store, lease);
    await advance(60_000);
    await store.promote(10, forever);
    const second = await claimOne(store);
    assert.equal(second.job.failures, 1);
    const running = await readOne(store, lease.job.id);
    assert.deepEqual([running.status, running.exitCode, running.error], ['running', 7, 'exit 7']);

    await report(store, second, { type: 'returned' });
    const third = await claimOne(store);
    assert.equal(
      (await readOne(store, lease.job.id)).error,
      'exit 7',
      'an attempt without an error keeps the last error',
    );
    await succeed(store, third);
    const done = await readOne(store, lease.job.id);
    assert.deepEqual([done.status, done.exitCode, done.error, done.failures], ['done', 0, null, 1]);
  });

  test('end: the last failure ends the job', async ({ store }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1 }));
    const job = await report(store, lease, {
      type: 'failed',
      exitCode: null,
      signal: 'SIGKILL',
      error: 'killed by SIGKILL',
    });
    assert.ok(job);
    assert.deepEqual(
      [job.status, job.reason, job.failures, job.exitCode, job.signal, job.error],
      ['failed', 'signal', 1, null, 'SIGKILL', 'killed by SIGKILL'],
    );
    assert.ok((job.doneAt ?? 0) >= lease.job.startedAt);
    assert.deepEqual([job.startedAt, job.workerId], [lease.job.startedAt, lease.workerId]);
    assert.deepEqual(await readOne(store, job.id), job);
  });

  test('end: a waiting job is cancelled at once, and no attempt is recorded', async ({ store }) => {
    const [pending, scheduled] = await submit(store, [aJob(), aJob({ delayMs: 60_000 })]);
    for (const { id } of [pending, scheduled] as Job[]) {
      const job = await cancel(store, id);
      assert.deepEqual([job.status, job.reason, job.error, job.attempt], ['cancelled', 'cancelled', null, 0]);
      assert.ok(job.doneAt !== null);
      assert.deepEqual(await store.attempts(id, forever), []);
      assert.deepEqual(await readOne(store, id), job);
    }
    assert.deepEqual(await claim(store, (await register(store)).id), []);
    assert.equal((await store.promote(10, forever)).nextDueAt, null);
  });

  test('end: a job that is cancelled between two attempts keeps the start time and worker of the first', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    await fail(store, lease);
    const job = await cancel(store, lease.job.id);
    assert.deepEqual([job.status, job.attempt, job.failures], ['cancelled', 1, 1]);
    assert.deepEqual([job.exitCode, job.error], [null, null]);
    assert.deepEqual([job.startedAt, job.workerId], [lease.job.startedAt, lease.workerId]);
    assert.deepEqual(
      (await store.attempts(job.id, forever)).map(({ attempt, outcome }) => [attempt, outcome]),
      [[1, 'failed']],
    );
  });

  test('flag: cancelling a running job sets a flag; its failure then counts as a cancellation', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const flagged = await cancel(store, lease.job.id);
    assert.equal(flagged.status, 'running');
    assert.ok(flagged.cancelRequestedAt !== null);
    assert.deepEqual(
      await cancel(store, lease.job.id),
      await readOne(store, lease.job.id),
      'a second cancel changes nothing',
    );

    const ended = await fail(store, lease);
    assert.deepEqual([ended?.status, ended?.reason, ended?.failures], ['cancelled', 'cancelled', 0]);
    assert.equal(ended?.cancelRequestedAt, flagged.cancelRequestedAt);
    const [record] = await store.attempts(lease.job.id, forever);
    assert.deepEqual([record?.outcome, record?.exitCode], ['cancelled', 7]);
  });

  test('fence: a decision that was made before a cancel request is not written', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const change = failing(await readOne(store, lease.job.id));
    await cancel(store, lease.job.id);
    assert.deepEqual(await store.applyChanges([change], forever), [undefined]);
    const job = await readOne(store, lease.job.id);
    assert.deepEqual([job.status, job.failures], ['running', 0]);
    assert.deepEqual(await store.attempts(job.id, forever), []);
  });

  test('fence: a change is written only if every field that its decision used is unchanged', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const job = await readOne(store, lease.job.id);
    const change = failing(job);
    const moved: Partial<Fence>[] = [
      { jobId: 999_999 },
      { status: 'pending' },
      { status: 'failed' },
      { attempt: 2 },
      { attempt: 0 },
      { workerId: lease.workerId + 1 },
      { cancelRequested: true },
      { counters: { ...change.fence.counters, failures: 1 } },
      { counters: { ...change.fence.counters, interruptions: 1 } },
      { counters: { ...change.fence.counters, snoozes: 1 } },
      { counters: { ...change.fence.counters, losses: 1 } },
      { workerSeenAt: (job.lastHeartbeatAt ?? 0) - 1 },
    ];
    for (const difference of moved) {
      const stale = { ...change, fence: { ...change.fence, ...difference } };
      assert.deepEqual(await store.applyChanges([stale], forever), [undefined], JSON.stringify(difference));
    }
    assert.deepEqual(await readOne(store, job.id), job);
    assert.equal((await store.applyChanges([change], forever))[0]?.status, 'scheduled');
  });

  test('fence: a worker that sent a heartbeat in the meantime does not lose its job', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    const [worker] = await store.workers(forever);
    const job = await readOne(store, lease.job.id);
    const change = transition(job, { type: 'lose', workerSeenAt: worker?.seenAt ?? 0 }, 0.5);
    assert.ok(change);
    await advance(10);
    await beat(store, lease.workerId, [lease], 1);
    assert.deepEqual(await store.applyChanges([change], forever), [undefined]);
    assert.equal((await readOne(store, job.id)).status, 'running');
  });

  test('changes: a batch is answered in order, and stale changes do not affect the others', async ({ store }) => {
    await submit(store, jobs(3));
    const { id } = await register(store);
    const claimed = await claim(store, id);
    const [a, b, c] = await store.read(
      claimed.map((job) => job.id),
      forever,
    );
    assert.ok(a && b && c);
    await succeed(store, { job: claimed[1] ?? assert.fail(), workerId: id });
    const flag: Change = { kind: 'flag', fence: fenceOf(c) };
    const written = await store.applyChanges([failing(c), failing(b), flag, failing(a), failing(a)], forever);
    assert.deepEqual(
      written.map((job) => (job === undefined ? undefined : [job.id, job.status])),
      [[c.id, 'scheduled'], undefined, undefined, [a.id, 'scheduled'], undefined],
    );
    assert.equal((await readOne(store, a.id)).failures, 1);
    assert.equal((await store.attempts(a.id, forever)).length, 1);
    assert.deepEqual(await store.applyChanges([], forever), []);
  });

  test('changes: one batch may hold every kind of change', async ({ store }) => {
    const over = await submitOne(store, aJob());
    await cancel(store, over.id);
    await submit(store, jobs(3));
    const { id } = await register(store);
    const [toFlag, toEnd, toRequeue] = await store.read(
      (await claim(store, id)).map((job) => job.id),
      forever,
    );
    const waiting = await submitOne(store, aJob());
    assert.ok(toFlag && toEnd && toRequeue);
    const changes = [
      transition(toFlag, { type: 'cancel' }, 0),
      transition(toEnd, { type: 'settle', outcome: { ...FAILED, fatal: true } }, 0),
      transition(await readOne(store, over.id), { type: 'retry' }, 0),
      transition(waiting, { type: 'cancel' }, 0),
      transition(toRequeue, { type: 'settle', outcome: { type: 'snoozed', delayMs: 5_000 } }, 0),
    ] as Change[];
    const written = await store.applyChanges(changes, forever);
    assert.deepEqual(
      written.map((job) => [job?.id, job?.status]),
      [
        [toFlag.id, 'running'],
        [toEnd.id, 'failed'],
        [over.id, 'pending'],
        [waiting.id, 'cancelled'],
        [toRequeue.id, 'scheduled'],
      ],
    );
    for (const job of written) assert.deepEqual(await readOne(store, job?.id ?? 0), job);
  });

  test('counters: failures, interruptions, snoozes and losses are written as decided', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const job = await readOne(store, lease.job.id);
    const change = failing(job);
    assert.equal(change.kind, 'requeue');
    const counters = { failures: 1, interruptions: 2, snoozes: 3, losses: 4 };
    const [written] = await store.applyChanges([{ ...change, counters }], forever);
    const { failures, interruptions, snoozes, losses } = written ?? assert.fail();
    assert.deepEqual({ failures, interruptions, snoozes, losses }, counters);
    const ended = await decide(store, job.id, { type: 'cancel' });
    assert.deepEqual([ended.failures, ended.interruptions, ended.snoozes, ended.losses], [1, 2, 3, 4]);
  });

  test('output: the error of a job is kept unchanged, unusual characters included', async ({ store }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1 }));
    const error = `exit 1\nça '"\\ %_ \u{1F680} \uFFFD ${'x'.repeat(3_000)}`;
    const job = await report(store, lease, { type: 'failed', exitCode: 1, signal: null, error });
    assert.equal(job?.error, error);
    assert.equal((await store.attempts(lease.job.id, forever))[0]?.error, error);
  });
}
