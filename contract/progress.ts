/** Progress that running attempts report. */

import assert from 'node:assert/strict';
import { aJob } from './kit/builders.ts';
import { claimOne, fail, forever, type Lease, loseLeases, readOne, register, succeed } from './kit/steps.ts';
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
    assert.deepEqual(await store.report([{ ...by(second), workerId: stranger.id, progress }], forever), [false]);
    assert.equal((await readOne(store, second.job.id)).progress, null);
    assert.deepEqual(await store.report([], forever), []);
  });

  test('progress: an attempt that has completed its job can still report', async ({ store }) => {
    const done = await claimOne(store, aJob());
    const failed = await claimOne(store, aJob({ maxAttempts: 1 }));
    await succeed(store, done);
    await fail(store, failed);
    const stranger = await register(store);
    const report = { progress: { fraction: 1, text: 'last' }, completed: true };
    assert.deepEqual(await store.report([{ ...by(done), ...report, workerId: stranger.id }], forever), [false]);
    const answers = await store.report(
      [
        { ...by(failed), ...report },
        { ...by(done), ...report },
      ],
      forever,
    );
    assert.deepEqual(answers, [false, true]);
    assert.deepEqual((await readOne(store, done.job.id)).progress, { fraction: 1, text: 'last' });
    assert.equal((await readOne(store, failed.job.id)).progress, null);
  });

  test('progress: a new attempt starts without progress', async ({ store, advance }) => {
    const first = await claimOne(store, aJob());
    await store.report([{ ...by(first), progress: { fraction: 0.5, text: 'half' } }], forever);
    assert.deepEqual((await readOne(store, first.job.id)).progress, { fraction: 0.5, text: 'half' });
    await fail(store, first);
    await advance(60_000);
    await store.promote(10, forever);
    const second = await claimOne(store);
    assert.equal((await readOne(store, second.job.id)).progress, null);
    await store.report([{ ...by(second), progress: { fraction: 0.75, text: null } }], forever);
    assert.deepEqual((await readOne(store, second.job.id)).progress, { fraction: 0.75, text: null });
  });
}
