import assert from 'node:assert/strict';
import type { Job } from '../src/core/job.ts';
import { aJob, aStep, aWorkflow, jobs } from './kit/builders.ts';
import { after, Hands, on, settleDown, submitWorkflow } from './kit/graph.ts';
import { claim, claimOne, forever, register, submit, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseRunContext(open: OpenStore): void {
  const test = withStore(open);

  test('run context: a job that stands alone has none', async ({ store }) => {
    assert.equal((await claimOne(store, aJob())).job.runContext, null);
  });

  test('run context: a parent knows nothing of its children', async ({ store }) => {
    const parent = await submitOne(store, aJob());
    await submitOne(store, after([parent]));
    assert.equal((await claimOne(store)).job.runContext, null);
  });

  test('run context: a child gets how its parents ended, by id', async ({ store }) => {
    const hands = await Hands.of(store);
    const [a, b, c] = (await submit(store, [aJob({ name: 'extract' }), ...jobs(2)])) as [Job, Job, Job];
    const child = await submitOne(store, aJob({ dependsOn: [on(c), on(b, 'failure'), on(a, 'ended')] }));
    await hands.done(a, { rows: 7, list: [1, null] });
    await hands.failed(b);
    await hands.done(c);
    assert.deepEqual((await hands.lease(child)).job.runContext, {
      workflow: null,
      params: {},
      item: null,
      parents: [
        { jobId: a.id, key: 'extract', status: 'done', result: { rows: 7, list: [1, null] } },
        { jobId: b.id, key: String(b.id), status: 'failed', result: null },
        { jobId: c.id, key: String(c.id), status: 'done', result: null },
      ],
    });
  });

  test('run context: a child submitted after its parent’s end gets the same', async ({ store }) => {
    const hands = await Hands.of(store);
    const parent = await submitOne(store, aJob({ continueOnFailure: true }));
    await hands.failed(parent);
    const child = await submitOne(store, after([parent]));
    const { runContext } = (await hands.lease(child)).job;
    assert.deepEqual(runContext?.parents, [
      { jobId: parent.id, key: String(parent.id), status: 'failed', result: null },
    ]);
  });

  test('run context: every attempt gets it', async ({ store, advance }) => {
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
    assert.deepEqual(second.runContext, first.runContext);
    assert.equal(first.runContext?.parents[0]?.result, 'r');
  });

  test('run context: a step gets the workflow’s parameters, and its parents by their keys', async ({ store }) => {
    const hands = await Hands.of(store);
    const params = { date: '2026-11-15', dry: false, deep: { list: [1] } };
    const steps = [aStep('a', { job: { name: 'another name' } }), aStep('b', { parents: [0] })];
    const {
      workflow: { id },
      step,
    } = await submitWorkflow(store, aWorkflow(steps, { params }));
    const first = { workflow: { id, step: 'a' }, params, item: null, parents: [] };
    assert.deepEqual((await hands.lease(step['a'] ?? 0)).job.runContext, first);
    await hands.done(step['a'] ?? 0, 42);
    assert.deepEqual((await hands.lease(step['b'] ?? 0)).job.runContext, {
      workflow: { id, step: 'b' },
      params,
      item: null,
      parents: [{ jobId: step['a'], key: 'a', status: 'done', result: 42 }],
    });
  });

  test('run context: an item gets its value, and the parents of its group', async ({ store }) => {
    const hands = await Hands.of(store);
    const {
      workflow: { id },
      step,
    } = await submitWorkflow(
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
    const result = { files: values, count: 5, none: null };
    await hands.done(step['list'] ?? 0, result);
    await settleDown(store);
    const parents = [{ jobId: step['list'], key: 'list', status: 'done', result }];
    const taken = await hands.take();
    for (const [index, itemId] of taken.entries()) {
      const { job } = await hands.lease(itemId);
      const item = { value: values[index], index };
      assert.deepEqual(job.runContext, { workflow: { id, step: 'each' }, params: { p: 1 }, item, parents });
      await hands.done(itemId, index);
    }
    await settleDown(store);
    assert.deepEqual((await hands.lease(step['after'] ?? 0)).job.runContext?.parents, [
      { jobId: step['each'], key: 'each', status: 'done', result: [0, 1, 2, 3, 4] },
    ]);
  });

  test('run context: items claimed together all get their parents’ results', async ({ store }) => {
    const forEach = { items: { parent: 0, path: ['list'] }, maxParallel: null };
    const steps = [aStep('object'), aStep('list'), aStep('text'), aStep('each', { parents: [0, 1, 2], forEach })];
    const { step } = await submitWorkflow(store, aWorkflow(steps));
    const results = [{ list: ['x', 'y'], deep: { a: [1] }, long: 'é'.repeat(9_000) }, ['a', null], 'x'.repeat(70_000)];
    const hands = await Hands.of(store);
    for (const [place, key] of ['object', 'list', 'text'].entries()) await hands.done(step[key] ?? 0, results[place]);
    await settleDown(store);
    const items = await claim(store, (await register(store)).id);
    assert.equal(items.length, 2);
    for (const { runContext } of items)
      assert.deepEqual(
        runContext?.parents.map(({ result }) => result),
        results,
      );
  });

  test('run context: an item gets its whole value, however long it is', async ({ store }) => {
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
    assert.deepEqual(first.job.runContext?.item, { value: long, index: 0 });
    assert.deepEqual(second.job.runContext?.item, { value: { long }, index: 1 });
    assert.deepEqual(second.job.runContext?.params, params);
  });

  test('run context: an edited item keeps what it is to work on', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { forEach: { items: ['x'], maxParallel: null } })]),
    );
    await settleDown(store);
    const [item] = await store.list({ groupId: step['each'] ?? 0 }, { before: null, limit: 1 }, forever);
    await store.edit(item?.id ?? 0, { timeoutMs: 5, priority: 3 }, forever);
    const { job } = await hands.lease(item?.id ?? 0);
    assert.deepEqual([job.timeoutMs, job.runContext?.item], [5, { value: 'x', index: 0 }]);
  });

  test('run context: a step kept from an earlier workflow counts as if it had run', async ({ store }) => {
    const hands = await Hands.of(store);
    const earlier = await submitOne(store, aJob());
    await hands.done(earlier, 'kept');
    const steps = [aStep('a', { keepFrom: earlier.id }), aStep('b', { parents: [0] })];
    const { step } = await submitWorkflow(store, aWorkflow(steps));
    const { runContext } = (await hands.lease(step['b'] ?? 0)).job;
    assert.deepEqual(runContext?.parents, [{ jobId: step['a'], key: 'a', status: 'done', result: 'kept' }]);
  });
}
