import assert from 'node:assert/strict';
import type { Job } from '../src/core/job.ts';
import { type Change, transition } from '../src/core/transition.ts';
import { aJob, aStep, aWorkflow, jobs } from './kit/builders.ts';
import {
  after,
  cancelKeepingChildren,
  fates,
  Hands,
  on,
  settleDown,
  statuses,
  submitChain,
  submitWorkflow,
} from './kit/graph.ts';
import { nextHint } from './kit/hints.ts';
import { cancel, forever, readOne, submit, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const SKIPPED = 'skipped: upstream_failed';
const CANCELLED = 'cancelled: cancelled';

export function exerciseCascade(open: OpenStore): void {
  const test = withStore(open);

  test('cascade: a failure skips everything below it, the children at once, the rest in batches', async ({ store }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 8);
    await hands.failed(chain[0] as Job);
    assert.deepEqual(await statuses(store, chain.slice(1)), ['skipped', ...Array<string>(6).fill('blocked')]);

    let propagated = 0;
    for (let round = 0; round < 20; round += 1) {
      const count = await store.cascade(1, forever);
      assert.ok(count <= 1);
      propagated += count;
    }
    assert.equal(propagated, 6, 'the last one has no children');
    assert.deepEqual(await fates(store, chain.slice(1)), Array<string>(7).fill(SKIPPED));
    assert.equal(await store.cascade(10, forever), 0);
  });

  test('graph work: is reported while ends wait to be propagated or groups to be filled, and not afterwards', async ({
    store,
  }) => {
    const nothing = { adopt: false, cascade: false, expand: false };
    assert.deepEqual(await store.graphWork(forever), nothing);
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 4);
    assert.deepEqual(await store.graphWork(forever), nothing);
    await hands.failed(chain[0] as Job);
    assert.deepEqual(await store.graphWork(forever), { ...nothing, cascade: true });
    await submitWorkflow(store, aWorkflow([aStep('each', { forEach: { items: ['a'], maxParallel: null } })]));
    assert.deepEqual(await store.graphWork(forever), { ...nothing, cascade: true, expand: true });
    await settleDown(store);
    assert.deepEqual(await store.graphWork(forever), nothing);
  });

  test('cascade: returns 0 if there is nothing to propagate', async ({ store }) => {
    const hands = await Hands.of(store);
    assert.equal(await store.cascade(10, forever), 0);
    const [parent] = (await submitChain(store, 2)) as [Job];
    await hands.done(parent);
    assert.equal(await store.cascade(10, forever), 0, 'an end propagates to its children at once');
    assert.equal(await store.cascade(0, forever), 0);
  });

  test('cascade: no more than the limit at a time', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const children = await submit(
      store,
      Array.from({ length: 5 }, () => after([parent])),
    );
    const below = await submit(
      store,
      children.map((child) => after([child])),
    );
    await hands.failed(parent);
    assert.equal(await store.cascade(3, forever), 3);
    assert.equal((await statuses(store, below)).filter((status) => status === 'blocked').length, 2);
    assert.equal(await store.cascade(3, forever), 2);
    assert.deepEqual(await fates(store, below), Array<string>(5).fill(SKIPPED));
  });

  test('cascade: ends where somebody takes any end, and goes on in another way', async ({ store }) => {
    const hands = await Hands.of(store);
    const [head, middle] = (await submitChain(store, 2)) as [Job, Job];
    const tidy = await submitOne(store, aJob({ dependsOn: [on(middle, 'ended')] }));
    const onFailure = await submitOne(store, aJob({ dependsOn: [on(middle, 'failure')] }));
    const below = await submitOne(store, after([onFailure]));
    await hands.failed(head);
    await settleDown(store);
    assert.deepEqual(await fates(store, [middle, tidy, onFailure, below]), [
      SKIPPED,
      'pending',
      'skipped: condition',
      SKIPPED,
    ]);
  });

  test('cascade: a child of several that are skipped is judged once, by all of them', async ({ store }) => {
    const hands = await Hands.of(store);
    const head = await submitOne(store, aJob());
    const sides = await submit(store, [after([head]), after([head]), after([head])]);
    const foot = await submitOne(store, aJob({ dependsOn: sides.map((side) => on(side, 'ended')) }));
    await hands.failed(head);
    await store.cascade(2, forever);
    assert.equal((await readOne(store, foot.id)).status, 'blocked');
    await settleDown(store);
    assert.deepEqual(await fates(store, [...sides, foot]), [SKIPPED, SKIPPED, SKIPPED, 'pending']);
    assert.deepEqual(await hands.take(), [foot.id]);
  });

  test('cascade: several at once do no harm', async ({ store }) => {
    const hands = await Hands.of(store);
    const head = await submitOne(store, aJob());
    let level = [head];
    const all: Job[] = [];
    for (let depth = 0; depth < 4; depth += 1) {
      level = await submit(
        store,
        Array.from({ length: 6 }, () => after(level)),
      );
      all.push(...level);
    }
    const last = await submitOne(store, aJob({ dependsOn: level.map((job) => on(job, 'ended')) }));
    await hands.failed(head);
    await Promise.all([1, 2, 3, 4].map(() => settleDown(store)));
    await settleDown(store);
    assert.deepEqual(await fates(store, all), Array<string>(24).fill(SKIPPED));
    assert.deepEqual(await hands.take(), [last.id]);
  });

  test('cascade: a hint says that there is something to do', async ({ store }) => {
    const hands = await Hands.of(store);
    const [head] = (await submitChain(store, 3)) as [Job];
    await hands.lease(head);
    const hinted = nextHint(store, 'graph');
    await hands.failed(head);
    await hinted;
  });

  test('cancel: also cancels dependents that can no longer run, but not those that accept any end', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 4);
    const [head, second] = chain as [Job, Job];
    const tidy = await submitOne(store, aJob({ dependsOn: [on(second, 'ended')] }));
    const onFailure = await submitOne(store, aJob({ dependsOn: [on(head, 'failure')] }));
    const afterTidy = await submitOne(store, after([tidy]));
    await cancel(store, head.id);
    assert.deepEqual(await fates(store, [second, onFailure]), [CANCELLED, CANCELLED], 'direct children at once');
    await settleDown(store);
    assert.deepEqual(await fates(store, chain), Array<string>(4).fill(CANCELLED));
    assert.deepEqual(await statuses(store, [tidy, afterTidy]), ['pending', 'blocked']);
    assert.deepEqual(await hands.take(), [tidy.id]);
    const job = await readOne(store, second.id);
    assert.deepEqual([job.attempt, job.error, job.cancelRequestedAt], [0, null, null]);
    assert.deepEqual(await store.attempts(second.id, forever), []);
  });

  test('cancel: without a cascade, children are judged by their conditions', async ({ store }) => {
    const chain = await submitChain(store, 3);
    const onFailure = await submitOne(store, aJob({ dependsOn: [on(chain[0] as Job, 'failure')] }));
    await cancelKeepingChildren(store, (chain[0] as Job).id);
    await settleDown(store);
    assert.deepEqual(await fates(store, [...chain, onFailure]), [CANCELLED, SKIPPED, SKIPPED, 'skipped: condition']);
  });

  test('cancel: a running job remembers whether it was asked for quietly', async ({ store }) => {
    const hands = await Hands.of(store);
    for (const quiet of [true, false]) {
      const [head, child] = (await submitChain(store, 2)) as [Job, Job];
      await hands.lease(head);
      await (quiet ? cancelKeepingChildren(store, head.id) : cancel(store, head.id));
      assert.equal((await readOne(store, child.id)).status, 'blocked', 'only the end decides');
      await hands.failed(head);
      assert.deepEqual(await fates(store, [head, child]), [CANCELLED, quiet ? SKIPPED : CANCELLED]);
    }
  });

  test('cancel: a job that finished all the same frees its children', async ({ store }) => {
    const hands = await Hands.of(store);
    const [head, child] = (await submitChain(store, 2)) as [Job, Job];
    await hands.lease(head);
    await cancel(store, head.id);
    await hands.done(head);
    assert.deepEqual(await statuses(store, [head, child]), ['done', 'pending']);
  });

  test('cancel: a job that gave up by itself takes its children along', async ({ store }) => {
    const hands = await Hands.of(store);
    const [head, child] = (await submitChain(store, 2)) as [Job, Job];
    await hands.cancelled(head);
    assert.deepEqual(await fates(store, [head, child]), [CANCELLED, CANCELLED]);
  });

  test('cancel: a child that still waits for others is not decided by a parent it takes any end of', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, aJob({ dependsOn: [on(a, 'ended'), on(b)] }));
    await cancel(store, a.id);
    assert.equal((await readOne(store, child.id)).status, 'blocked');
    await hands.failed(b);
    assert.deepEqual(await fates(store, [child]), [SKIPPED]);
  });

  test('cancel: a child that fails to be free for another reason in the same call is skipped for that', async ({
    store,
  }) => {
    const [a, b] = (await submit(store, jobs(2))) as [Job, Job];
    const child = await submitOne(store, aJob({ dependsOn: [on(a, 'ended'), on(b)] }));
    const changes = [
      transition(a, { type: 'cancel' }, 0),
      transition(b, { type: 'cancel', keepChildren: true }, 0),
    ] as Change[];
    await store.applyChanges(changes, forever);
    assert.deepEqual(await fates(store, [a, b, child]), [CANCELLED, CANCELLED, SKIPPED]);
  });

  test('cancel: a blocked job is cancelled at once, and what its parents do later is nothing to it', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    const chain = await submitChain(store, 3);
    const [head, middle, foot] = chain as [Job, Job, Job];
    await cancel(store, middle.id);
    assert.deepEqual(await fates(store, [middle, foot]), [CANCELLED, CANCELLED]);
    await hands.done(head);
    await settleDown(store);
    assert.deepEqual(await fates(store, chain), ['done', CANCELLED, CANCELLED]);
  });
}
