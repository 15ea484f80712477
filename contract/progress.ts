/** Progress and checkpoints that running attempts report. */

import assert from 'node:assert/strict';
import { aJob } from './kit/builders.ts';
import { claimOne, fail, forever, type Lease, loseLeases, readOne, register, retry, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

function by({ job, workerId }: Lease) {
  return { jobId: job.id, attempt: job.attempt, workerId };
}

export function exerciseProgress(open: OpenStore): void {
  const test = withStore(open);

  test('progress: the latest progress of the current attempt is shown on the job and stays when it ends', async ({
    store,
  }) => {
    const lease = await claimOne(store, aJob());
    assert.equal((await readOne(store, lease.job.id)).progress, null);
    const report = async (fraction: number, text: string | null) =>
      store.report([{ ...by(lease), progress: { fraction, text } }], forever);
    assert.deepEqual(await report(0.25, 'a "quoted" \\ word'), [true]);
    assert.deepEqual((await readOne(store, lease.job.id)).progress, { fraction: 0.25, text: 'a "quoted" \\ word' });
    await report(1, null);
    assert.deepEqual((await readOne(store, lease.job.id)).progress, { fraction: 1, text: null });
    await succeed(store, lease);
    assert.deepEqual((await store.list({}, { before: null, limit: 1 }, forever))[0]?.progress, {
      fraction: 1,
      text: null,
    });
    assert.deepEqual(await report(0, null), [false], 'the job has ended');
  });

  test('progress: only the worker that holds the attempt can report, and other reports of the same call are accepted', async ({
    store,
    advance,
  }) => {
    const first = await claimOne(store, aJob());
    await loseLeases(store, advance);
    const second = await claimOne(store);
    const other = await claimOne(store, aJob());
    const stranger = await register(store);
    const progress = { fraction: 0.5, text: 'x' };
    const answers = await store.report(
      [
        { ...by(first), progress },
        { ...by(other), progress },
      ],
      forever,
    );
    assert.deepEqual(answers, [false, true]);
    assert.deepEqual(await store.report([{ ...by(second), workerId: stranger.id, checkpoint: 1 }], forever), [false]);
    assert.equal((await readOne(store, second.job.id)).progress, null);
    assert.equal(await store.checkpoint(second.job.id, forever), null);
    assert.deepEqual(await store.report([], forever), []);
  });

  test('progress: a new attempt starts without progress, but with the last checkpoint', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    assert.equal(await store.checkpoint(first.job.id, forever), null);
    await store.report(
      [{ ...by(first), progress: { fraction: 0.5, text: 'half' }, checkpoint: { done: [1, 'ü'] } }],
      forever,
    );
    await store.report([{ ...by(first), checkpoint: { done: [1, 2] } }], forever);
    assert.deepEqual((await readOne(store, first.job.id)).progress, { fraction: 0.5, text: 'half' });
    await fail(store, first);
    await advance(60_000);
    await store.promote(10, forever);
    const second = await claimOne(store);
    assert.equal((await readOne(store, second.job.id)).progress, null);
    assert.deepEqual(await store.checkpoint(second.job.id, forever), { done: [1, 2] });
    await store.report([{ ...by(second), progress: { fraction: 0.75, text: null } }], forever);
    assert.deepEqual(
      await store.checkpoint(second.job.id, forever),
      { done: [1, 2] },
      'progress alone does not change the checkpoint',
    );
    await store.report([{ ...by(second), checkpoint: null }], forever);
    assert.equal(await store.checkpoint(second.job.id, forever), null);
    assert.equal(await store.checkpoint(999_999, forever), null);
  });

  test('progress: a manual retry keeps the checkpoint, pruning deletes it', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 1 }));
    await store.report([{ ...by(lease), checkpoint: 7 }], forever);
    await fail(store, lease);
    await retry(store, lease.job.id);
    assert.equal(await store.checkpoint(lease.job.id, forever), 7);
    await succeed(store, await claimOne(store));
    await advance(10_000);
    assert.equal(await store.prune({ doneMs: 1_000, otherMs: 1_000, statsMs: 1_000 }, 10, forever), 1);
    assert.equal(await store.checkpoint(lease.job.id, forever), null);
  });
}
