/** The steps of durable functions, and the suspension of their jobs. */

import assert from 'node:assert/strict';
import { STEPS_PAGE_BYTES, type StepWrite, type StepWritten } from '../src/core/durable.ts';
import type { Job, NewJob } from '../src/core/job.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, anOffer, aStepWrite } from './kit/builders.ts';
import {
  cancel,
  claim,
  claimOne,
  fail,
  forever,
  type Lease,
  loseLeases,
  readOne,
  register,
  report,
  retry,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type Advance, type OpenStore, withStore } from './kit/store.ts';

const HOUR = 3_600_000;
const THROWN = { name: 'Error', message: 'no', code: null, details: null, causes: [] };

async function write(
  store: Store,
  { job, workerId }: Lease,
  name: string,
  wanted: Partial<StepWrite> = {},
): Promise<StepWritten> {
  const lease = { jobId: job.id, attempt: job.attempt, workerId };
  const [written] = await store.writeSteps([{ ...aStepWrite(name, wanted), ...lease }], forever);
  return written ?? assert.fail('no answer');
}

function stepOf(written: StepWritten) {
  return 'step' in written ? written.step : assert.fail(`refused: ${written.refused}`);
}

/** Sleeps in a function: writes the sleep and suspends the job. */
async function sleep(store: Store, lease: Lease, ms: number, name = 'nap'): Promise<Job> {
  await write(store, lease, name, { kind: 'sleep', wait: { ms } });
  return (await report(store, lease, { type: 'suspended', awaits: [name] })) ?? assert.fail('the lease is lost');
}

async function promoted(store: Store, advance: Advance, ms: number): Promise<void> {
  await advance(ms);
  await store.promote(100, forever);
}

async function namesOf(store: Store, jobId: number): Promise<string[]> {
  return (await store.jobSteps(jobId, 0, forever)).steps.map(({ name }) => name);
}

export function exerciseDurable(open: OpenStore): void {
  const test = withStore(open);

  test('steps: what an attempt has written is there for the next one, by the order in which it was written', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    assert.equal(lease.job.steps, undefined);
    await write(store, lease, 'charge', { result: '{"b":1,"a":[null,"\\u0000"]}', tookMs: 500 });
    await write(store, lease, '["page",3]');
    await fail(store, lease);
    const { steps, next } = await store.jobSteps(lease.job.id, 0, forever);
    assert.equal(next, null);
    assert.deepEqual(
      steps.map(({ name, kind, seq, attempt, result }) => ({ name, kind, seq, attempt, result })),
      [
        { name: 'charge', kind: 'step', seq: 1, attempt: 1, result: '{"b":1,"a":[null,"\\u0000"]}' },
        { name: '["page",3]', kind: 'step', seq: 2, attempt: 1, result: null },
      ],
    );
    assert.equal((steps[0]?.endedAt ?? 0) - (steps[0]?.startedAt ?? 0), 500);
  });

  test('steps: a worker whose lease was given away can write none', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await loseLeases(store, advance);
    assert.deepEqual(await write(store, lease, 'late'), { refused: 'lease_lost' });
    const second = await claimOne(store);
    assert.deepEqual(await write(store, { ...second, workerId: lease.workerId }, 'late'), { refused: 'lease_lost' });
    assert.equal(
      await store.noteUnused({ jobId: lease.job.id, attempt: 1, workerId: lease.workerId, names: ['x'] }, forever),
      false,
    );
    assert.deepEqual(await namesOf(store, lease.job.id), []);
    assert.equal(second.job.steps, undefined);
  });

  test('steps: one that has ended stays as it is, and a write that is sent again is answered as the first was', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    const first = stepOf(await write(store, lease, 'charge', { result: '1' }));
    assert.deepEqual(stepOf(await write(store, lease, 'charge', { result: '2' })), first);
    assert.deepEqual(await write(store, lease, 'charge', { kind: 'sleep', wait: { ms: 1 } }), { refused: 'changed' });
    const nap = stepOf(await write(store, lease, 'nap', { kind: 'sleep', wait: { ms: HOUR } }));
    assert.equal(stepOf(await write(store, lease, 'nap', { kind: 'sleep', wait: { ms: 2 * HOUR } })).until, nap.until);
    assert.equal((await readOne(store, lease.job.id)).durable?.steps, 2);
  });

  test('steps: writes of one attempt at the same time are all stored, each with a number of its own', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    const names = Array.from({ length: 20 }, (_, index) => `step ${index}`);
    await Promise.all(names.map((name) => write(store, lease, name, { result: '0' })));
    const { steps } = await store.jobSteps(lease.job.id, 0, forever);
    assert.deepEqual(steps.map(({ name }) => name).sort(), names.sort());
    assert.deepEqual(
      steps.map(({ seq }) => seq),
      names.map((_, index) => index + 1),
    );
  });

  test('steps: results are read in pages, and a large one is a page of its own', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const half = JSON.stringify('x'.repeat(STEPS_PAGE_BYTES / 2 - 2));
    const large = JSON.stringify('y'.repeat(2 * STEPS_PAGE_BYTES));
    for (const [name, result] of [
      ['a', half],
      ['b', half],
      ['c', large],
      ['d', '1'],
    ] as const) {
      await write(store, lease, name, { result });
    }
    const pages: string[][] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: Awaited<ReturnType<Store['jobSteps']>> = await store.jobSteps(lease.job.id, after, forever);
      pages.push(page.steps.map(({ name }) => name));
      after = page.next;
    }
    assert.deepEqual(pages, [['a', 'b'], ['c'], ['d']]);
    const [first] = await store.claimSteps([lease.job.id], forever);
    assert.equal(first?.next, 2);
  });

  test('suspend: the attempt ends without a failure, and the job is claimable when its sleep is over', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1, startTimeoutMs: 1_000 }));
    const slept = await sleep(store, lease, HOUR);
    const now = await store.now(forever);
    assert.equal(slept.status, 'scheduled');
    assert.ok(Math.abs(slept.dueAt - now - HOUR) < 5_000);
    const read = await readOne(store, lease.job.id);
    assert.deepEqual([read.failures, read.interruptions, read.snoozes, read.expiresAt], [0, 0, 0, null]);
    assert.ok(Math.abs((read.durable?.suspendedAt ?? 0) - now) < 5_000);
    assert.deepEqual(
      (await store.openSteps(read.id, forever)).map(({ name }) => name),
      ['nap'],
    );
    const [attempt] = await store.attempts(read.id, forever);
    assert.equal(attempt?.outcome, 'suspended');
    await promoted(store, advance, HOUR - 10_000);
    assert.equal((await claim(store, lease.workerId)).length, 0);
    await store.heartbeat({ workerId: lease.workerId, leases: null, seenClaim: null }, forever);
    await promoted(store, advance, 10_000);
    await store.heartbeat({ workerId: lease.workerId, leases: null, seenClaim: null }, forever);
    const [again] = await claim(store, lease.workerId);
    assert.notEqual(again?.steps, undefined);
    const [page] = await store.claimSteps([read.id], forever);
    assert.equal(page?.steps[0]?.endedAt, slept.dueAt);
    assert.equal((await readOne(store, read.id)).durable?.suspendedAt, null);
    assert.ok(again);
    assert.equal((await succeed(store, { job: again, workerId: lease.workerId })).result, 'ok');
    assert.equal((await readOne(store, read.id)).durable?.suspendedAt, null);
  });

  test('suspend: a sleep that was over before the report makes the job due at once, in its first place', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    const first = await readOne(store, lease.job.id);
    await write(store, lease, 'nap', { kind: 'sleep', wait: { ms: HOUR } });
    await write(store, lease, 'nap', { kind: 'sleep' });
    const job = await report(store, lease, { type: 'suspended', awaits: ['nap'] });
    assert.equal(job?.dueAt, first.dueAt);
    assert.equal((await store.promote(10, forever)).count, 1);
  });

  test('suspend: it holds no place of its queue and no limit, and is claimed as any other', async ({
    store,
    advance,
  }) => {
    const limits = [{ key: 'k', max: 1 }];
    await store.setQueue('default', { maxRunning: 1 }, forever);
    const lease = await claimOne(store, aJob({ limits }));
    const other = await submitOne(store, aJob({ limits }));
    await sleep(store, lease, 1_000);
    const [next] = await claim(store, lease.workerId);
    assert.equal(next?.id, other.id);
    await promoted(store, advance, 1_000);
    assert.equal((await claim(store, lease.workerId)).length, 0);
    assert.ok(next);
    await succeed(store, { job: next, workerId: lease.workerId });
    assert.equal((await claim(store, lease.workerId))[0]?.id, lease.job.id);
  });

  test('suspend: with on_limit skip, only the first start is skipped', async ({ store, advance }) => {
    const limited: Partial<NewJob> = { limits: [{ key: 'k', max: 1 }], onLimit: 'skip' };
    const lease = await claimOne(store, aJob(limited));
    await sleep(store, lease, 1_000);
    const other = await claimOne(store, aJob({ limits: [{ key: 'k', max: 1 }] }), lease.workerId);
    await promoted(store, advance, 1_000);
    assert.equal((await claim(store, lease.workerId)).length, 0);
    assert.deepEqual(await store.findSkippable(10, forever), []);
    await succeed(store, other);
    assert.equal((await claim(store, lease.workerId))[0]?.id, lease.job.id);
  });

  test('suspend: a unique key treats the job as running', async ({ store }) => {
    for (const onConflict of ['replace', 'supersede', 'after'] as const) {
      const unique = { key: onConflict, while: 'active', onConflict } as const;
      const lease = await claimOne(store, aJob({ unique, name: 'first' }));
      await sleep(store, lease, HOUR);
      const [second] = (await store.insert([aJob({ unique, name: 'second' })], {}, forever)).items;
      const kept = await readOne(store, lease.job.id);
      assert.deepEqual([kept.name, kept.status], ['first', 'scheduled']);
      assert.equal(second?.deduplicated, onConflict === 'replace');
      if (onConflict !== 'replace') assert.equal(second?.job.status, 'blocked');
    }
  });

  test('suspend: its start cannot be edited, but its priority can', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await sleep(store, lease, HOUR);
    assert.equal(await store.edit(lease.job.id, { runAt: 0 }, forever), undefined);
    assert.equal((await store.edit(lease.job.id, { priority: 3 }, forever))?.priority, 3);
    assert.equal((await readOne(store, lease.job.id)).status, 'scheduled');
  });

  test('suspend: after a cancel request the job is cancelled, and a suspended job is cancelled at once', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    await cancel(store, lease.job.id);
    assert.equal((await sleep(store, lease, HOUR)).status, 'cancelled');
    const other = await claimOne(store, aJob());
    await sleep(store, other, HOUR);
    assert.equal((await cancel(store, other.job.id)).status, 'cancelled');
  });

  test('steps: one that ends gives the job all its attempts again', async ({ store }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 3, backoff: { ...aJob().backoff, type: 'none' } }));
    await write(store, lease, 'a');
    await fail(store, lease);
    const second = await claimOne(store, null, lease.workerId);
    await write(store, second, 'open', { tries: 1, wait: { ms: 1 } });
    assert.equal((await readOne(store, lease.job.id)).failures, 1);
    await write(store, second, 'b');
    assert.equal((await readOne(store, lease.job.id)).failures, 0);
    for (const _ of [1, 2, 3]) {
      const next = await readOne(store, lease.job.id);
      const job = next.status === 'running' ? second : await claimOne(store, null, lease.workerId);
      await fail(store, job);
    }
    assert.equal((await readOne(store, lease.job.id)).status, 'failed');
  });

  test('steps: a retry by a person keeps what has succeeded, and forgets what has failed', async ({ store }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1 }));
    await write(store, lease, 'good', { result: '1' });
    await write(store, lease, 'bad', { thrown: THROWN });
    assert.equal(await store.forgetFailedSteps([lease.job.id], forever), 0);
    await fail(store, lease);
    assert.equal(await store.forgetFailedSteps([lease.job.id], forever), 1);
    await retry(store, lease.job.id);
    const second = await claimOne(store, null, lease.workerId);
    assert.notEqual(second.job.steps, undefined);
    assert.deepEqual(await namesOf(store, lease.job.id), ['good']);
    await write(store, second, 'bad', { result: '2' });
    assert.equal((await readOne(store, lease.job.id)).durable?.steps, 2);
  });

  test('steps: names that the function no longer asks for are on the job', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await write(store, lease, 'old');
    const { job, workerId } = lease;
    const unused = { jobId: job.id, attempt: job.attempt, workerId, names: ['old'] };
    assert.equal(await store.noteUnused(unused, forever), true);
    await succeed(store, lease);
    assert.deepEqual((await readOne(store, job.id)).durable, { steps: 1, suspendedAt: null, unused: ['old'] });
    const [listed] = await store.list({}, { before: null, limit: 1 }, forever);
    assert.deepEqual(listed?.durable?.unused, ['old']);
  });

  test('steps: they are deleted with their job, and a job without steps has nothing of them', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await write(store, lease, 'a');
    await succeed(store, lease);
    assert.deepEqual(await store.deleteJobs([lease.job.id], forever), [lease.job.id]);
    assert.deepEqual(await namesOf(store, lease.job.id), []);
    const plain = await claimOne(store, aJob());
    await succeed(store, plain);
    const read = await readOne(store, plain.job.id);
    assert.equal('durable' in read, false);
    const worker = await register(store);
    assert.deepEqual(await claim(store, worker.id, { offer: anOffer() }), []);
  });
}
