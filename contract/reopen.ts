import assert from 'node:assert/strict';
import type { Job } from '../src/core/job.ts';
import { aJob, jobs } from './kit/builders.ts';
import {
  after,
  cancelKeepingChildren,
  fates,
  Hands,
  on,
  retryChange,
  settleDown,
  statuses,
  submitChain,
} from './kit/graph.ts';
import { cancel, forever, readOne, retry, submit, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const SKIPPED = 'skipped: upstream_failed';

export function exerciseReopen(open: OpenStore): void {
  const test = withStore(open);

  test('retry: children that were skipped wait again, and run if the job succeeds this time', async ({ store }) => {
    const hands = await Hands.of(store);
    const [parent, child] = (await submitChain(store, 2)) as [Job, Job];
    await hands.failed(parent);
    assert.equal((await readOne(store, child.id)).status, 'skipped');

    assert.equal((await retry(store, parent.id)).status, 'pending');
    const reopened = await readOne(store, child.id);
    assert.deepEqual([reopened.status, reopened.reason, reopened.doneAt], ['blocked', null, null]);
    assert.deepEqual(reopened, { ...child, ...reopened, dueAt: child.dueAt });
    await hands.done(parent);
    await hands.done(child);
    assert.deepEqual(await statuses(store, [parent, child]), ['done', 'done']);
    assert.deepEqual(
      (await store.attempts(child.id, forever)).map(({ attempt }) => attempt),
      [1],
    );
  });

  test('retry: a child that is judged again still counts its parents that were done before', async ({ store }) => {
    const hands = await Hands.of(store);
    const [fine, failing] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, after([fine, failing]));
    await hands.done(fine);
    await hands.failed(failing);
    assert.equal((await readOne(store, child.id)).status, 'skipped');
    await retry(store, failing.id);
    await settleDown(store);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await hands.done(failing);
    assert.equal((await readOne(store, child.id)).status, 'pending');
  });

  test('retry: as often as it fails, they are skipped again', async ({ store }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 4);
    for (let round = 0; round < 3; round += 1) {
      await hands.failed(chain[0] as Job);
      await settleDown(store);
      assert.deepEqual(await fates(store, chain.slice(1)), [SKIPPED, SKIPPED, SKIPPED]);
      await retry(store, (chain[0] as Job).id);
      await settleDown(store);
      assert.deepEqual(await statuses(store, chain), ['pending', 'blocked', 'blocked', 'blocked']);
    }
    for (const job of chain) await hands.done(job);
    assert.deepEqual(await statuses(store, chain), ['done', 'done', 'done', 'done']);
  });

  test('retry: what was skipped further down follows in batches', async ({ store }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 5);
    await hands.failed(chain[0] as Job);
    await settleDown(store);
    await retry(store, (chain[0] as Job).id);
    assert.deepEqual(await statuses(store, chain.slice(1)), ['blocked', 'skipped', 'skipped', 'skipped']);
    assert.equal(await store.cascade(1, forever), 1);
    assert.deepEqual(await statuses(store, chain.slice(1)), ['blocked', 'blocked', 'skipped', 'skipped']);
    await settleDown(store);
    assert.deepEqual(await statuses(store, chain.slice(1)), ['blocked', 'blocked', 'blocked', 'blocked']);
  });

  test('retry: children that started are left alone, whatever they came to', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const [ran, runs, waits] = (await submit(store, [
      aJob({ dependsOn: [on(parent, 'failure')] }),
      aJob({ dependsOn: [on(parent, 'ended')] }),
      aJob({ dependsOn: [on(parent, 'ended')], maxAttempts: 3 }),
    ])) as [Job, Job, Job];
    const below = await submitOne(store, after([ran]));
    await hands.failed(parent);
    await hands.done(ran);
    await hands.lease(runs);
    await hands.failedOnce(waits);
    await retry(store, parent.id);
    await settleDown(store);
    assert.deepEqual(await statuses(store, [ran, runs, waits, below]), ['done', 'running', 'scheduled', 'pending']);
    await hands.done(parent);
    await settleDown(store);
    assert.deepEqual(await statuses(store, [ran, runs, waits]), ['done', 'running', 'scheduled']);
    await hands.done(runs);
    await hands.done(below);
  });

  test('retry: a child that was free but not started waits again', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const [pending, scheduled] = (await submit(store, [
      aJob({ dependsOn: [on(parent, 'ended')], startTimeoutMs: 5_000 }),
      aJob({ dependsOn: [on(parent, 'ended')], delayMs: 60_000 }),
    ])) as [Job, Job];
    await hands.failed(parent);
    assert.deepEqual(await statuses(store, [pending, scheduled]), ['pending', 'scheduled']);
    await retry(store, parent.id);
    assert.deepEqual(await statuses(store, [pending, scheduled]), ['blocked', 'blocked']);
    assert.equal((await readOne(store, pending.id)).expiresAt, null);
    assert.deepEqual(await hands.take(), [parent.id]);
    await hands.done(parent);
    assert.deepEqual(await statuses(store, [pending, scheduled]), ['pending', 'scheduled']);
    assert.equal((await readOne(store, scheduled.id)).dueAt, scheduled.dueAt);
  });

  test('retry: a child is judged by all of its parents', async ({ store }) => {
    const hands = await Hands.of(store);
    const [a, b, c] = (await submit(store, jobs(3))) as [Job, Job, Job];
    const both = await submitOne(store, after([a, b]));
    const mixed = await submitOne(store, aJob({ dependsOn: [on(a), on(c, 'failure')] }));
    await hands.failed(a);
    await hands.failed(b);
    await hands.done(c);
    assert.deepEqual(await fates(store, [both, mixed]), [SKIPPED, SKIPPED]);
    await retry(store, a.id);
    assert.deepEqual(await fates(store, [both, mixed]), [SKIPPED, 'skipped: condition'], 'the others have not changed');
    await hands.done(a);
    await settleDown(store);
    assert.deepEqual(await fates(store, [both, mixed]), [SKIPPED, 'skipped: condition']);
    await retry(store, b.id);
    assert.deepEqual(await statuses(store, [both]), ['blocked']);
    await hands.done(b);
    assert.deepEqual(await statuses(store, [both]), ['pending']);
  });

  test('retry: what a cancellation took along waits again', async ({ store }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 4);
    await cancel(store, (chain[0] as Job).id);
    await settleDown(store);
    await retry(store, (chain[0] as Job).id);
    await settleDown(store);
    assert.deepEqual(await statuses(store, chain), ['pending', 'blocked', 'blocked', 'blocked']);
    for (const job of chain) await hands.done(job);
  });

  test('retry: a quiet cancellation is forgotten', async ({ store }) => {
    const hands = await Hands.of(store);
    const [parent, child] = (await submitChain(store, 2)) as [Job, Job];
    await hands.lease(parent);
    await cancelKeepingChildren(store, parent.id);
    await hands.cancelled(parent);
    assert.deepEqual(await fates(store, [child]), [SKIPPED]);
    await retry(store, parent.id);
    await cancel(store, parent.id);
    assert.deepEqual(await fates(store, [parent, child]), ['cancelled: cancelled', 'cancelled: cancelled']);
  });

  test('retry: a skipped job runs although its parent failed, if a person says so', async ({ store }) => {
    const hands = await Hands.of(store);
    const [parent, child, below] = (await submitChain(store, 3)) as [Job, Job, Job];
    await hands.failed(parent);
    await settleDown(store);
    assert.equal((await retry(store, child.id)).status, 'pending');
    assert.deepEqual(await statuses(store, [parent, child, below]), ['failed', 'pending', 'blocked']);
    await hands.done(child);
    await hands.done(below);
  });

  test('retry: a job waits for those of its parents that have not ended', async ({ store }) => {
    const hands = await Hands.of(store);
    const [parent, other] = (await submit(store, jobs(2))) as [Job, Job];
    const skipped = await submitOne(store, after([parent, other]));
    await hands.failed(parent);
    assert.equal((await retry(store, skipped.id)).status, 'blocked', 'the other one still runs');
    await cancel(store, skipped.id);

    const ran = await submitOne(store, aJob({ dependsOn: [on(parent, 'failure')] }));
    await hands.failed(ran);
    const changes = [await retryChange(store, parent.id), await retryChange(store, ran.id)];
    const written = await store.applyChanges(changes, forever);
    assert.deepEqual(
      written.map((job) => job?.status),
      ['pending', 'blocked'],
    );
    await hands.failed(parent);
    assert.equal((await readOne(store, ran.id)).status, 'pending');
    await hands.done(ran);
  });

  test('retry: jobs further down end right even if the job ended again before the cascade reached them', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    const [head, middle, foot] = (await submitChain(store, 3)) as [Job, Job, Job];
    await hands.failed(head);
    await settleDown(store);
    await retry(store, head.id);
    await hands.done(head);
    await hands.done(middle);
    await settleDown(store);
    assert.deepEqual(await statuses(store, [head, middle, foot]), ['done', 'done', 'pending']);
    await hands.done(foot);
  });

  test('retry: a job skipped again before the cascade reached those further down changes nothing for them', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 4);
    await hands.failed(chain[0] as Job);
    await settleDown(store);
    await retry(store, (chain[0] as Job).id);
    await hands.failed(chain[0] as Job);
    await settleDown(store);
    assert.deepEqual(await fates(store, chain.slice(1)), [SKIPPED, SKIPPED, SKIPPED]);
    await retry(store, (chain[0] as Job).id);
    await settleDown(store);
    for (const job of chain) await hands.done(job);
  });
}
