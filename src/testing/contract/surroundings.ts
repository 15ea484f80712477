import assert from 'node:assert/strict';
import type { Job } from '../../core/job.ts';
import { aJob, aStep, aWorkflow, jobs } from '../kit/builders.ts';
import { after, Hands, on, settleDown, submitWorkflow } from '../kit/graph.ts';
import { claimOne, forever, submit, submitOne } from '../kit/steps.ts';
import { type OpenStore, withStore } from '../kit/store.ts';

export function exerciseSurroundings(open: OpenStore): void {
  const test = withStore(open);

  test('surroundings: a job that stands alone has none', async ({ store }) => {
    assert.equal((await claimOne(store, aJob())).job.surroundings, null);
  });

  test('surroundings: a parent knows nothing of its children', async ({ store }) => {
    const parent = await submitOne(store, aJob());
    await submitOne(store, after([parent]));
    assert.equal((await claimOne(store)).job.surroundings, null);
  });

  test('surroundings: a child is told how its parents ended, by id', async ({ store }) => {
    const hands = await Hands.of(store);
    const [a, b, c] = (await submit(store, [aJob({ name: 'extract' }), ...jobs(2)])) as [Job, Job, Job];
    const child = await submitOne(store, aJob({ dependsOn: [on(c), on(b, 'failure'), on(a, 'ended')] }));
    await hands.done(a, { rows: 7, list: [1, null] });
    await hands.failed(b);
    await hands.done(c);
    assert.deepEqual((await hands.lease(child)).job.surroundings, {
      params: {},
      item: null,
      parents: [
        { jobId: a.id, key: 'extract', status: 'done', result: { rows: 7, list: [1, null] } },
        { jobId: b.id, key: String(b.id), status: 'failed', result: null },
        { jobId: c.id, key: String(c.id), status: 'done', result: null },
      ],
    });
  });

  test('surroundings: a child submitted after its parent’s end is told the same', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob({ continueOnFailure: true }));
    await hands.failed(parent);
    const child = await submitOne(store, after([parent]));
    const { surroundings } = (await hands.lease(child)).job;
    assert.deepEqual(surroundings?.parents, [
      { jobId: parent.id, key: String(parent.id), status: 'failed', result: null },
    ]);
  });

  test('surroundings: every attempt is told', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob());
    const child = await submitOne(store, after([parent]));
    await hands.done(parent, 'r');
    const first = (await hands.lease(child)).job;
    await hands.failedOnce(child);
    await advance(60_000);
    await store.promote(10, forever);
    const second = (await hands.lease(child)).job;
    assert.equal(second.attempt, 2);
    assert.deepEqual(second.surroundings, first.surroundings);
    assert.equal(first.surroundings?.parents[0]?.result, 'r');
  });

  test('surroundings: a step is told the workflow’s parameters, and its parents by their keys', async ({ store }) => {
    const hands = await Hands.of(store);
    const params = { date: '2026-11-15', dry: false, deep: { list: [1] } };
    const steps = [aStep('a', { job: { name: 'another name' } }), aStep('b', { parents: [0] })];
    const { step } = await submitWorkflow(store, aWorkflow(steps, { params }));
    assert.deepEqual((await hands.lease(step['a'] ?? 0)).job.surroundings, { params, item: null, parents: [] });
    await hands.done(step['a'] ?? 0, 42);
    assert.deepEqual((await hands.lease(step['b'] ?? 0)).job.surroundings, {
      params,
      item: null,
      parents: [{ jobId: step['a'], key: 'a', status: 'done', result: 42 }],
    });
  });

  test('surroundings: an item is told what to work on, and the parents of its group', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow(
        [
          aStep('list'),
          aStep('each', { parents: [0], forEach: { items: { parent: 0, path: ['files'] }, maxParallel: null } }),
          aStep('after', { parents: [1] }),
        ],
        { params: { p: 1 } },
      ),
    );
    const values = ['x', { y: 1 }, null, 0, false];
    await hands.done(step['list'] ?? 0, { files: values, count: 5, from: 'here', dry: false, none: null });
    await settleDown(store);
    const told = { count: 5, from: 'here', dry: false };
    const parents = [{ jobId: step['list'], key: 'list', status: 'done', result: told }];
    const taken = await hands.take();
    for (const [index, id] of taken.entries()) {
      const { job } = await hands.lease(id);
      assert.deepEqual(job.surroundings, { params: { p: 1 }, item: { value: values[index], index }, parents });
      await hands.done(id, index);
    }
    await settleDown(store);
    assert.deepEqual((await hands.lease(step['after'] ?? 0)).job.surroundings?.parents, [
      { jobId: step['each'], key: 'each', status: 'done', result: [0, 1, 2, 3, 4] },
    ]);
  });

  test('surroundings: an item is told no more of its parents than fits into variables', async ({ store }) => {
    const hands = await Hands.of(store);
    const forEach = { items: { parent: 0, path: ['list'] }, maxParallel: null };
    const steps = [aStep('object'), aStep('list'), aStep('text'), aStep('long'), aStep('number')];
    const all = [...steps, aStep('each', { parents: [0, 1, 2, 3, 4], forEach }), aStep('beside', { parents: [0] })];
    const { step } = await submitWorkflow(store, aWorkflow(all));
    const filling = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'é'.repeat(2_000)]));
    const object = { list: ['x'], deep: { a: 1 }, tooLong: 'é'.repeat(2_049), ...filling };
    await hands.done(step['object'] ?? 0, object);
    await hands.done(step['list'] ?? 0, ['a', 'b']);
    await hands.done(step['text'] ?? 0, 'short');
    await hands.done(step['long'] ?? 0, 'x'.repeat(4_097));
    await hands.done(step['number'] ?? 0, 7);
    await settleDown(store);
    const beside = await hands.lease(step['beside'] ?? 0);
    const [first] = await store.list({ groupId: step['each'] ?? 0 }, { before: null, limit: 1 }, forever);
    const item = await hands.lease(first?.id ?? 0);
    assert.deepEqual(beside.job.surroundings?.parents[0]?.result, object);
    const results = item.job.surroundings?.parents.map(({ result }) => result) ?? [];
    const kept = results[0] as Record<string, unknown>;
    assert.deepEqual(Object.keys(kept).length, 16);
    assert.ok(Object.keys(kept).every((key) => kept[key] === filling[key as keyof typeof filling]));
    assert.deepEqual(results.slice(1), [null, 'short', null, 7]);
  });

  test('surroundings: an item is told whole, however long it is', async ({ store }) => {
    const hands = await Hands.of(store);
    const long = `${'é"\\'.repeat(60_000)}.`;
    const forEach = { items: { parent: 0, path: [] }, maxParallel: null };
    const params = { long };
    const steps = [aStep('list'), aStep('each', { parents: [0], forEach })];
    const { step } = await submitWorkflow(store, aWorkflow(steps, { params }));
    await hands.done(step['list'] ?? 0, [long, { long }]);
    await settleDown(store);
    const first = await claimOne(store);
    const second = await claimOne(store);
    assert.deepEqual(first.job.surroundings?.item, { value: long, index: 0 });
    assert.deepEqual(second.job.surroundings?.item, { value: { long }, index: 1 });
    assert.deepEqual(second.job.surroundings?.params, params);
  });

  test('surroundings: an edited item keeps what it is to work on', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { forEach: { items: ['x'], maxParallel: null } })]),
    );
    await settleDown(store);
    const [item] = await store.list({ groupId: step['each'] ?? 0 }, { before: null, limit: 1 }, forever);
    await store.edit(item?.id ?? 0, { timeoutMs: 5, priority: 3 }, forever);
    const { job } = await hands.lease(item?.id ?? 0);
    assert.deepEqual([job.timeoutMs, job.surroundings?.item], [5, { value: 'x', index: 0 }]);
  });

  test('surroundings: what is kept of an earlier workflow is told as if it had run', async ({ store }) => {
    const hands = await Hands.of(store);
    const earlier = await submitOne(store, aJob());
    await hands.done(earlier, 'kept');
    const steps = [aStep('a', { keepFrom: earlier.id }), aStep('b', { parents: [0] })];
    const { step } = await submitWorkflow(store, aWorkflow(steps));
    const { surroundings } = (await hands.lease(step['b'] ?? 0)).job;
    assert.deepEqual(surroundings?.parents, [{ jobId: step['a'], key: 'a', status: 'done', result: 'kept' }]);
  });
}
