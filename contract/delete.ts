import assert from 'node:assert/strict';
import type { Job } from '../src/core/job.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, aStep, aWorkflow, jobs } from './kit/builders.ts';
import { after, cancelKeepingChildren, Hands, settleDown, submitWorkflow } from './kit/graph.ts';
import { aTarget, makeSchedule, PERIOD, tickAll } from './kit/schedules.ts';
import { cancel, claimOne, fail, forever, ids, retry, submit, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const tells = [{ on: ['failed'], target: { type: 'command', command: 'true' }, lateAfterMs: 60_000 }] as const;

/** Deletes the jobs that it may, and returns their ids in order. */
async function deleted(store: Store, wanted: readonly number[]): Promise<number[]> {
  return (await store.deleteJobs(wanted, forever)).sort((a, b) => a - b);
}

function countAll(store: Store): Promise<number> {
  return store.count({}, 100, forever);
}

export function exerciseDelete(open: OpenStore): void {
  const test = withStore(open);

  test('delete: takes ended jobs, however they ended, and no others', async ({ store }) => {
    const done = await claimOne(store, aJob());
    await succeed(store, done);
    const failed = await claimOne(store, aJob({ maxAttempts: 1 }));
    await fail(store, failed);
    const cancelled = await submitOne(store, aJob());
    await cancel(store, cancelled.id);
    const running = await claimOne(store, aJob());
    const [pending, scheduled] = (await submit(store, [aJob(), aJob({ delayMs: 60_000 })])) as [Job, Job];
    const ended = [done.job.id, failed.job.id, cancelled.id];
    const unfinished = [running.job.id, pending.id, scheduled.id];

    assert.deepEqual(await deleted(store, [...unfinished, ...ended, 9_999]), ended);
    assert.deepEqual(await deleted(store, ended), [], 'they are gone');
    assert.equal(await countAll(store), 3);
    assert.equal((await succeed(store, running)).result, 'ok');
  });

  test('delete: attempts, output and result go with the job, and its unique key is free', async ({ store }) => {
    const unique = { key: 'k', while: 86_400_000, onConflict: 'reject' } as const;
    const lease = await claimOne(store, aJob({ unique }));
    const { id: jobId, attempt } = lease.job;
    await store.appendLogs(
      [{ jobId, attempt, workerId: lease.workerId, offset: 0, data: Buffer.from('hello') }],
      forever,
    );
    await succeed(store, lease, { big: true });
    assert.deepEqual(await deleted(store, [jobId]), [jobId]);
    assert.deepEqual(await store.attempts(jobId, forever), []);
    assert.deepEqual(await store.readLog({ jobId, attempt, from: 0, maxBytes: 100 }, forever), []);
    assert.deepEqual(await succeed(store, lease), { result: 'lease_lost' });
    assert.ok((await submitOne(store, aJob({ unique }))).id > jobId, 'no id is given twice');
  });

  test('delete: a job that waits for its next attempt, or was retried, stays', async ({ store }) => {
    const backingOff = await claimOne(store, aJob({ maxAttempts: 2 }));
    await fail(store, backingOff);
    const retried = await submitOne(store, aJob());
    await cancel(store, retried.id);
    await retry(store, retried.id);
    assert.deepEqual(await deleted(store, [backingOff.job.id, retried.id]), []);
    assert.equal(await countAll(store), 2);
  });

  test('delete: a job that an unfinished one depends on stays', async ({ store }) => {
    const hands = await Hands.of(store);
    const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, after([a, b]));
    await hands.done(a);
    assert.deepEqual(await deleted(store, [a.id, b.id, child.id]), []);
    await hands.done(b);
    assert.deepEqual(await deleted(store, [a.id, b.id]), []);
    await hands.done(child);
    assert.deepEqual(await deleted(store, [a.id, b.id, child.id]), [a.id, b.id, child.id]);
  });

  test('delete: of a child that is submitted while its parent is deleted, one is refused', async ({ store }) => {
    for (let round = 0; round < 10; round += 1) {
      const parent = await claimOne(store, aJob());
      await succeed(store, parent);
      const [gone, added] = await Promise.allSettled([
        store.deleteJobs([parent.job.id], forever),
        submitOne(store, after([parent.job])),
      ]);
      assert.equal(gone.status, 'fulfilled');
      assert.equal(gone.value.length === 0, added.status === 'fulfilled');
      if (added.status === 'fulfilled') {
        assert.equal(added.value.status, 'pending', 'its parent is done');
        await cancelKeepingChildren(store, added.value.id);
      }
    }
  });

  test('delete: steps go with their workflow, and that only as a whole', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(
      store,
      aWorkflow([aStep('a'), aStep('each', { parents: [0], forEach: { items: [1, 2], maxParallel: 1 } })]),
    );
    const outside = await submitOne(store, after([{ id: step['a'] ?? 0 }]));
    await hands.done(step['a'] ?? 0);
    assert.deepEqual(await deleted(store, [step['a'] ?? 0]), []);
    assert.equal(await store.deleteWorkflow(workflow.id, forever), false, 'it has not ended');
    for (let round = 0; round < 2; round += 1) {
      await settleDown(store);
      for (const job of await hands.take()) await hands.done(job);
    }
    await settleDown(store);
    const waiting = await submitOne(store, after([{ id: step['each'] ?? 0 }]));
    assert.equal(await store.deleteWorkflow(workflow.id, forever), false, 'a job outside of it depends on a step');
    await hands.done(waiting);
    assert.equal(await store.deleteWorkflow(workflow.id, forever), true);
    assert.equal(await store.workflow(workflow.id, forever), undefined);
    const left = await store.list({}, { before: null, limit: 10 }, forever);
    assert.deepEqual(ids(left), [waiting.id, outside.id], 'newest first');
    assert.equal(await store.deleteWorkflow(workflow.id, forever), false);
  });

  test('delete: stays until the notifications of the end are written', async ({ store }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1, notify: tells }));
    await fail(store, lease);
    const { workflow, step } = await submitWorkflow(store, { ...aWorkflow([aStep('a')]), notify: [...tells] });
    const hands = await Hands.of(store);
    await hands.failed(step['a'] ?? 0);
    assert.deepEqual(await deleted(store, [lease.job.id]), []);
    assert.equal(await store.deleteWorkflow(workflow.id, forever), false);
    for (const notice of await store.notices(10, forever)) {
      await store.deliver(notice.id, { alarm: null, messages: [] }, forever);
    }
    assert.deepEqual(await deleted(store, [lease.job.id]), [lease.job.id]);
    assert.equal(await store.deleteWorkflow(workflow.id, forever), true);
  });

  test('delete: members of a gang stay, since the others could be retried', async ({ store }) => {
    const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'continue', timeoutMs: 600_000 } as const;
    const members = await submit(
      store,
      [0, 1].map((rank) => aJob({ gang: { ...gang, rank } })),
    );
    for (const { id } of members) await cancel(store, id);
    assert.deepEqual(await deleted(store, ids(members)), []);
    assert.equal(await countAll(store), 2);
  });

  test('delete: the ledger keeps how the run ended', async ({ store, advance }) => {
    await makeSchedule(store, { target: aTarget({ maxAttempts: 1 }) });
    await advance(PERIOD + 1_000);
    const [tick] = await tickAll(store);
    const lease = await claimOne(store);
    await fail(store, lease);
    assert.deepEqual(await deleted(store, [lease.job.id]), [lease.job.id]);
    const [state] = await store.runStates([tick?.id ?? 0], forever);
    assert.equal(state?.status, 'failed');
  });
}
