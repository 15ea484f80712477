import assert from 'node:assert/strict';
import { transition } from '../src/core/transition.ts';
import { aJob } from './kit/builders.ts';
import { beat, cancel, claimOne, fail, forever, readOne, report, retry, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** A user retries a job that has ended. */
export function exerciseManualRetry(open: OpenStore): void {
  const test = withStore(open);

  test('reopen: a manual retry restores the full budget and keeps counting attempts', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1, startTimeoutMs: 9_000 }));
    await fail(store, lease);
    await advance(5_000);
    const before = await store.now(forever);
    const job = await retry(store, lease.job.id);
    assert.deepEqual([job.status, job.failures, job.losses, job.attempt], ['pending', 0, 0, 1]);
    assert.deepEqual([job.doneAt, job.reason, job.cancelRequestedAt], [null, null, null]);
    assert.equal(job.error, 'exit 7', 'the error of the last attempt stays');
    assert.ok(job.dueAt >= before);
    assert.equal(job.expiresAt, job.dueAt + 9_000);

    const second = await claimOne(store);
    assert.deepEqual([second.job.id, second.job.attempt, second.job.failures], [job.id, 2, 0]);
    await succeed(store, second);
    assert.deepEqual(
      (await store.attempts(job.id, forever)).map(({ attempt, outcome }) => [attempt, outcome]),
      [
        [1, 'failed'],
        [2, 'done'],
      ],
    );
  });

  test('reopen: an end without an attempt adds no attempt, however often it happens', async ({ store }) => {
    const { id } = await submitOne(store, aJob());
    for (let round = 0; round < 2; round += 1) {
      await cancel(store, id);
      const job = await retry(store, id);
      assert.deepEqual([job.status, job.attempt, job.startedAt], ['pending', 0, null]);
    }
    const lease = await claimOne(store);
    assert.equal(lease.job.attempt, 1);
    await fail(store, lease);
    await cancel(store, id);
    const job = await retry(store, id);
    assert.deepEqual([job.attempt, job.error], [1, 'exit 7']);
    assert.deepEqual(
      (await store.attempts(id, forever)).map(({ attempt }) => attempt),
      [1],
    );
  });

  test('reopen: an ended job is reopened once, and a done job never', async ({ store }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1 }));
    await fail(store, lease);
    const change = transition(await readOne(store, lease.job.id), { type: 'retry' }, 0);
    assert.ok(change);
    const written = await store.applyChanges([change, change], forever);
    assert.deepEqual(
      written.map((job) => job?.status),
      ['pending', undefined],
    );
    await succeed(store, await claimOne(store));
    assert.deepEqual(await store.applyChanges([change], forever), [undefined]);
    assert.equal((await readOne(store, lease.job.id)).status, 'done');
  });

  test('reopen: a reopened job has no cancel request', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    await cancel(store, lease.job.id);
    await report(store, lease, { type: 'cancelled', error: null });
    const job = await retry(store, lease.job.id);
    assert.equal(job.cancelRequestedAt, null);
    const second = await claimOne(store);
    assert.deepEqual((await beat(store, second.workerId, [second], 1))?.cancel, []);
    assert.equal((await fail(store, second))?.status, 'scheduled');
  });
}
