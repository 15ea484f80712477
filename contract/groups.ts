import assert from 'node:assert/strict';
import type { NewForEach } from '../src/core/dag/new-workflow.ts';
import type { WorkflowStep } from '../src/core/dag/workflow.ts';
import type { Job } from '../src/core/job.ts';
import type { Store } from '../src/store/store.ts';
import { aStep, aWorkflow } from './kit/builders.ts';
import { after, fates, Hands, readWorkflow, settleDown, statuses, submitWorkflow } from './kit/graph.ts';
import { nextHint } from './kit/hints.ts';
import {
  cancel,
  claim,
  forever,
  ids,
  loseLeases,
  readOne,
  register,
  retireWorkers,
  retry,
  submitOne,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;

/** A step for each item, and a step after them all. */
function fanOut(items: NewForEach['items'], maxParallel: number | null = null) {
  return aWorkflow([aStep('each', { forEach: { items, maxParallel } }), aStep('after', { parents: [0] })]);
}

/** A step whose result is the list. */
function fanOutOf(path: readonly string[]) {
  return aWorkflow([
    aStep('list'),
    aStep('each', { parents: [0], forEach: { items: { parent: 0, path }, maxParallel: null } }),
    aStep('after', { parents: [1] }),
    aStep('alarm', { parents: [1], condition: 'failure' }),
  ]);
}

async function itemsOf(store: Store, groupId: number): Promise<Job[]> {
  return (await store.list({ groupId }, { before: null, limit: 1_000 }, forever)).reverse();
}

async function stepOf(store: Store, workflow: { id: number }, key: string): Promise<WorkflowStep> {
  const steps = await store.steps(workflow.id, null, forever);
  return steps.find((step) => step.key === key) ?? assert.fail();
}

export function exerciseGroups(open: OpenStore): void {
  const test = withStore(open);

  test('for_each: a group is free at once where nothing is before it, and is never claimed', async ({ store }) => {
    const hands = await Hands.of(store);
    const before = await store.now(forever);
    const { workflow, step } = await submitWorkflow(store, fanOut(['a', 'b']));
    const group = await readOne(store, step['each'] ?? 0);
    assert.deepEqual([group.status, group.attempt, group.workerId, group.lastHeartbeatAt], ['running', 0, null, null]);
    assert.ok((group.startedAt ?? 0) >= before);
    assert.deepEqual((await stepOf(store, workflow, 'each')).group, {
      source: ['a', 'b'],
      total: null,
      maxParallel: null,
      inserted: 0,
      counts: { open: 0, fine: 0, failed: 0, cancelled: 0 },
    });
    assert.deepEqual(await hands.take(), []);
    assert.equal((await readWorkflow(store, workflow)).startedAt, null);
  });

  test('for_each: each item is a job of its own, in order, like the step', async ({ store }) => {
    const job = { command: 'work', tags: ['t'], priority: 3, timeoutMs: 77 };
    const wanted = aWorkflow([aStep('each', { job, forEach: { items: ['a', { b: 1 }, null], maxParallel: null } })]);
    const { workflow, step } = await submitWorkflow(store, wanted);
    assert.equal(await store.expand(10, forever), 3);
    assert.equal(await store.expand(10, forever), 0);
    const items = await itemsOf(store, step['each'] ?? 0);
    assert.deepEqual(
      items.map(({ status, groupIndex, groupId, workflowId, stepKey, dependsOn }) => [
        [status, groupIndex, groupId],
        [workflowId, stepKey, dependsOn],
      ]),
      [0, 1, 2].map((index) => [
        ['pending', index, step['each']],
        [workflow.id, 'each', []],
      ]),
    );
    for (const item of items) {
      const { command, tags, priority, timeoutMs } = item;
      assert.deepEqual({ command, tags, priority, timeoutMs }, job);
    }
    assert.deepEqual((await stepOf(store, workflow, 'each')).group, {
      source: ['a', { b: 1 }, null],
      total: 3,
      maxParallel: null,
      inserted: 3,
      counts: { open: 3, fine: 0, failed: 0, cancelled: 0 },
    });
    assert.equal((await store.steps(workflow.id, null, forever)).length, 1, 'items are not steps');
    assert.equal(await store.count({ workflowId: workflow.id }, 10, forever), 4);
  });

  test('for_each: in batches, each index once, also if several expand at the same time', async ({ store }) => {
    const { step } = await submitWorkflow(store, fanOut(Array.from({ length: 50 }, (_, index) => index)));
    assert.equal(await store.expand(7, forever), 7);
    const answers = await Promise.all([1, 2, 3, 4].map(() => store.expand(9, forever)));
    for (const count of answers) assert.ok(count <= 9);
    await settleDown(store);
    assert.deepEqual(
      (await itemsOf(store, step['each'] ?? 0)).map(({ groupIndex }) => groupIndex),
      Array.from({ length: 50 }, (_, index) => index),
    );
  });

  test('for_each: ends when all items have, with their results in order', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOut(['a', 'b', 'c']));
    await settleDown(store);
    const [a, b, c] = await hands.take();
    const started = await readWorkflow(store, workflow);
    assert.equal(started.status, 'running');
    assert.ok(started.startedAt !== null, 'an item has been claimed');
    await hands.done(c ?? 0, { n: 3 });
    await hands.done(a ?? 0, 'one');
    await settleDown(store);
    assert.deepEqual(await statuses(store, [step['each'] ?? 0, step['after'] ?? 0]), ['running', 'blocked']);
    assert.equal((await readWorkflow(store, workflow)).counts.open, 2, 'items do not count as steps');
    await hands.done(b ?? 0);
    await settleDown(store);
    const group = await readOne(store, step['each'] ?? 0);
    assert.deepEqual([group.status, group.reason, group.error, group.attempt], ['done', null, null, 0]);
    assert.deepEqual(group.result, ['one', null, { n: 3 }]);
    assert.deepEqual(await store.attempts(group.id, forever), []);
    await hands.done(step['after'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });

  test('for_each: over no items is done', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOut([]));
    assert.equal(await store.expand(10, forever), 1);
    await settleDown(store);
    const group = await readOne(store, step['each'] ?? 0);
    assert.deepEqual([group.status, group.result], ['done', []]);
    await hands.done(step['after'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });

  test('for_each: fails if one item failed, as the first of them did', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOut(['a', 'b', 'c']));
    await settleDown(store);
    const [a, b, c] = await hands.take();
    await hands.failed(c ?? 0);
    await hands.failed(b ?? 0);
    await settleDown(store);
    assert.equal((await readOne(store, step['each'] ?? 0)).status, 'running', 'the others go on');
    await hands.done(a ?? 0);
    await settleDown(store);
    const group = await readOne(store, step['each'] ?? 0);
    const first = await readOne(store, b ?? 0);
    assert.deepEqual([group.status, group.reason, group.error], ['failed', first.reason, `item 1: ${first.error}`]);
    assert.deepEqual(group.result, [null, null, null], 'the list, with nothing from items that failed');
    assert.deepEqual(await fates(store, [{ id: step['after'] ?? 0 }]), ['skipped: upstream_failed']);
    assert.equal((await readWorkflow(store, workflow)).status, 'failed');
  });

  test('for_each: with continue_on_failure it fails with its items, and its failure counts as success', async ({
    store,
  }) => {
    const hands = await Hands.of(store);
    const forEach = { items: [1, 2], maxParallel: null };
    const steps = [aStep('each', { job: { continueOnFailure: true }, forEach }), aStep('after', { parents: [0] })];
    const { workflow, step } = await submitWorkflow(store, aWorkflow(steps));
    await settleDown(store);
    const [a, b] = await hands.take();
    await hands.failed(a ?? 0);
    await hands.done(b ?? 0, 2);
    await settleDown(store);
    const { job, group } = await stepOf(store, workflow, 'each');
    assert.deepEqual([job.status, job.reason, job.result], ['failed', 'fatal', [null, 2]]);
    assert.deepEqual(group?.counts, { open: 0, fine: 1, failed: 1, cancelled: 0 });
    assert.deepEqual(await statuses(store, [step['after'] ?? 0]), ['pending']);
    assert.deepEqual((await readWorkflow(store, workflow)).counts, { open: 1, fine: 1, failed: 0, cancelled: 0 });
    await hands.done(step['after'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });

  test('for_each: reopening an item takes its failure out of the counts again', async ({ store }) => {
    const hands = await Hands.of(store);
    const forEach = { items: [1, 2], maxParallel: null };
    const wanted = aWorkflow([aStep('each', { job: { continueOnFailure: true }, forEach })]);
    const { workflow } = await submitWorkflow(store, wanted);
    await settleDown(store);
    const [a, b] = await hands.take();
    await hands.failed(a ?? 0);
    await hands.done(b ?? 0, 2);
    await settleDown(store);
    await retry(store, a ?? 0);
    const reopened = await stepOf(store, workflow, 'each');
    assert.deepEqual([reopened.job.status, reopened.job.result], ['running', null]);
    assert.deepEqual(reopened.group?.counts, { open: 1, fine: 1, failed: 0, cancelled: 0 });
    await hands.done(a ?? 0, 1);
    await settleDown(store);
    const { job, group } = await stepOf(store, workflow, 'each');
    assert.deepEqual([job.status, job.result, group?.counts.fine], ['done', [1, 2], 2]);
  });

  test('for_each: no more items at a time than it says', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOut([0, 1, 2, 3, 4], 2));
    const seen: number[] = [];
    await settleDown(store);
    for (let round = 0; round < 5; round += 1) {
      const open = await store.count({ groupId: step['each'] ?? 0, statuses: ['pending', 'running'] }, 10, forever);
      assert.equal(open, Math.min(2, 5 - round));
      await hands.take();
      const next = (await itemsOf(store, step['each'] ?? 0)).find(({ status }) => status === 'running');
      seen.push(next?.groupIndex ?? -1);
      await hands.done(next?.id ?? 0, round);
      await settleDown(store);
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4]);
    const { job, group } = await stepOf(store, workflow, 'each');
    assert.deepEqual([job.status, job.result], ['done', [0, 1, 2, 3, 4]]);
    assert.deepEqual(group?.counts, { open: 0, fine: 5, failed: 0, cancelled: 0 });
  });

  test('for_each: an item that is tried again is one item still', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOut([0, 1], 1));
    await settleDown(store);
    const [first] = await hands.take();
    await hands.failedOnce(first ?? 0);
    await settleDown(store);
    assert.equal((await itemsOf(store, step['each'] ?? 0)).length, 1);
    await advance(60_000);
    await store.promote(10, forever);
    await hands.done(first ?? 0);
    await settleDown(store);
    assert.equal((await itemsOf(store, step['each'] ?? 0)).length, 2);
  });

  test('for_each: over a parent’s result, or a part of it', async ({ store }) => {
    const hands = await Hands.of(store);
    for (const [path, result] of [
      [[], ['x', 'y']],
      [['deep', 'list'], { deep: { list: ['x', 'y'] } }],
    ] as const) {
      const { workflow, step } = await submitWorkflow(store, fanOutOf(path));
      const source = { parentId: step['list'] ?? 0, path };
      assert.deepEqual((await stepOf(store, workflow, 'each')).group?.source, source);
      assert.equal(await store.expand(10, forever), 0, 'not before it is free');
      assert.equal((await readOne(store, step['each'] ?? 0)).status, 'blocked');
      await hands.done(step['list'] ?? 0, result);
      assert.equal((await readOne(store, step['each'] ?? 0)).status, 'running');
      assert.equal(await store.expand(10, forever), 2);
      for (const id of await hands.take()) await hands.done(id);
      await settleDown(store);
      assert.equal((await readOne(store, step['each'] ?? 0)).status, 'done');
      await hands.done(step['after'] ?? 0);
    }
  });

  test('for_each: what is not a list fails it and says what was expected', async ({ store }) => {
    const hands = await Hands.of(store);
    const results: [unknown, RegExp][] = [
      [undefined, /expected a list at result\.list, got nothing/],
      [{ list: null }, /got null/],
      [{ list: { 0: 'a' } }, /got an object/],
      [{ list: 'abc' }, /got a string/],
      [{ list: Array.from({ length: 100_001 }, () => 0) }, /at most 100000 items at result\.list, got 100001/],
    ];
    for (const [result, error] of results) {
      const { step } = await submitWorkflow(store, fanOutOf(['list']));
      await hands.done(step['list'] ?? 0, result);
      assert.equal(await store.expand(10, forever), 1);
      await settleDown(store);
      const group = await readOne(store, step['each'] ?? 0);
      assert.deepEqual([group.status, group.reason, group.result], ['failed', 'fatal', null]);
      assert.match(group.error ?? '', error);
      assert.equal((await readOne(store, step['after'] ?? 0)).status, 'skipped');
      await hands.done(step['alarm'] ?? 0);
    }
  });

  test('for_each: a group whose parent failed is skipped, without an item', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOutOf([]));
    await hands.failed(step['list'] ?? 0);
    await settleDown(store);
    assert.deepEqual(await fates(store, [{ id: step['each'] ?? 0 }, { id: step['after'] ?? 0 }]), [
      'skipped: upstream_failed',
      'skipped: upstream_failed',
    ]);
    assert.deepEqual(await itemsOf(store, step['each'] ?? 0), []);
    assert.equal((await readWorkflow(store, workflow)).status, 'failed');
  });

  test('for_each: a group is not lost with a worker, and takes no place from its items', async ({ store, advance }) => {
    await store.setQueue('default', { maxRunning: 1 }, forever);
    const { step } = await submitWorkflow(store, fanOut(['a', 'b']));
    await settleDown(store);
    const [queue] = await store.queues(forever);
    assert.deepEqual([queue?.running, queue?.pending, queue?.blocked], [0, 2, 1]);
    const { id } = await register(store);
    assert.equal((await claim(store, id)).length, 1);
    assert.equal((await claim(store, id)).length, 0);
    const lost = await loseLeases(store, advance);
    assert.deepEqual(
      lost.map(({ groupId }) => groupId),
      [step['each']],
    );
    assert.deepEqual(await retireWorkers(store, 0), [id]);
    assert.equal((await readOne(store, step['each'] ?? 0)).status, 'running');
  });

  test('for_each: items are due when their step is', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const job = { delayMs: 60_000, startTimeoutMs: 5_000 };
    const wanted = aWorkflow([aStep('each', { job, forEach: { items: [1], maxParallel: null } })]);
    const { step } = await submitWorkflow(store, wanted);
    await settleDown(store);
    const group = await readOne(store, step['each'] ?? 0);
    const [item] = await itemsOf(store, group.id);
    assert.deepEqual([item?.status, item?.dueAt], ['scheduled', group.dueAt]);
    assert.equal(item?.expiresAt, group.dueAt + 5_000);
    assert.deepEqual(await hands.take(), []);
    await advance(61_000);
    await store.promote(10, forever);
    assert.deepEqual(await hands.take(), [item?.id]);
  });

  test('for_each: the end of an item tells that more can be given out', async ({ store }) => {
    const hands = await Hands.of(store);
    await submitWorkflow(store, fanOut([1, 2], 1));
    await settleDown(store);
    const [first] = await hands.take();
    const hinted = nextHint(store, 'graph');
    await hands.done(first ?? 0);
    await hinted;
    assert.equal(await store.expand(10, forever), 1);
  });

  test('for_each: a job of its own may wait for a group', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOut(['a']));
    const job = await submitOne(store, after([{ id: step['each'] ?? 0 }]));
    await settleDown(store);
    for (const id of await hands.take()) await hands.done(id);
    await settleDown(store);
    assert.deepEqual(await statuses(store, [job]), ['pending']);
  });

  test('cancel: a group asked to stop gives out no more, and ends when its items have', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOut([1, 2, 3], 1));
    await settleDown(store);
    const [first] = await hands.take();
    const flagged = await cancel(store, step['each'] ?? 0);
    assert.equal(flagged.status, 'running');
    assert.ok(flagged.cancelRequestedAt !== null);
    await settleDown(store);
    assert.equal((await readOne(store, step['each'] ?? 0)).status, 'running');
    await hands.done(first ?? 0);
    await settleDown(store);
    assert.equal((await itemsOf(store, step['each'] ?? 0)).length, 1);
    assert.deepEqual(await fates(store, [{ id: step['each'] ?? 0 }, { id: step['after'] ?? 0 }]), [
      'cancelled: cancelled',
      'cancelled: cancelled',
    ]);
    assert.equal((await readWorkflow(store, workflow)).status, 'cancelled');
  });

  test('cancel: a group that has given out nothing ends at the next look', async ({ store }) => {
    const { step } = await submitWorkflow(store, fanOut([1, 2, 3]));
    await cancel(store, step['each'] ?? 0);
    await settleDown(store);
    assert.deepEqual(await fates(store, [{ id: step['each'] ?? 0 }]), ['cancelled: cancelled']);
    assert.deepEqual(await itemsOf(store, step['each'] ?? 0), []);
  });

  test('cancel: a cancelled item cancels its group once the others have ended', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOut([1, 2]));
    await settleDown(store);
    const [one, two] = await itemsOf(store, step['each'] ?? 0);
    await cancel(store, one?.id ?? 0);
    await settleDown(store);
    assert.equal((await readOne(store, step['each'] ?? 0)).status, 'running');
    await hands.done(two?.id ?? 0);
    await settleDown(store);
    assert.deepEqual(await fates(store, [{ id: step['each'] ?? 0 }]), ['cancelled: cancelled']);
  });

  test('cancel: once asked to stop, a group does not fail', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOut([1, 2]));
    await settleDown(store);
    const [one, two] = await hands.take();
    await hands.failed(one ?? 0);
    await cancel(store, step['each'] ?? 0);
    await hands.done(two ?? 0);
    await settleDown(store);
    assert.deepEqual(await fates(store, [{ id: step['each'] ?? 0 }]), ['cancelled: cancelled']);
  });

  test('retry: an item makes its group run again, and what comes after it wait', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, fanOut(['a', 'b']));
    await settleDown(store);
    const [a, b] = await hands.take();
    await hands.failed(a ?? 0);
    await hands.done(b ?? 0, 'b');
    await settleDown(store);
    assert.equal((await readWorkflow(store, workflow)).status, 'failed');

    await retry(store, a ?? 0);
    await settleDown(store);
    const again = await readOne(store, step['each'] ?? 0);
    assert.deepEqual([again.status, again.reason, again.error, again.doneAt], ['running', null, null, null]);
    assert.deepEqual((await stepOf(store, workflow, 'each')).group?.counts, {
      open: 1,
      fine: 1,
      failed: 0,
      cancelled: 0,
    });
    assert.equal((await readOne(store, step['after'] ?? 0)).status, 'blocked');
    const running = await readWorkflow(store, workflow);
    assert.deepEqual([running.status, running.counts.open, running.endedAt], ['running', 2, null]);

    await hands.done(a ?? 0, 'a');
    await settleDown(store);
    assert.deepEqual((await readOne(store, step['each'] ?? 0)).result, ['a', 'b']);
    await hands.done(step['after'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });

  test('retry: an item of a group that was asked to stop makes it go on', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOut([1, 2], 1));
    await settleDown(store);
    const [first] = await hands.take();
    await cancel(store, step['each'] ?? 0);
    await hands.failed(first ?? 0);
    await settleDown(store);
    assert.equal((await readOne(store, step['each'] ?? 0)).status, 'cancelled');
    await retry(store, first ?? 0);
    assert.equal((await readOne(store, step['each'] ?? 0)).cancelRequestedAt, null);
    for (const result of ['one', 'two']) {
      for (const id of await hands.take()) await hands.done(id, result);
      await settleDown(store);
    }
    const group = await readOne(store, step['each'] ?? 0);
    assert.deepEqual([group.status, group.result], ['done', ['one', 'two']]);
  });

  test('retry: a group that got no list tries again', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOutOf([]));
    await hands.done(step['list'] ?? 0, 'no list');
    await settleDown(store);
    const again = await retry(store, step['each'] ?? 0);
    assert.deepEqual([again.status, again.error], ['running', null]);
    await settleDown(store);
    assert.equal((await readOne(store, step['each'] ?? 0)).reason, 'fatal');
  });

  test('retry: a group that was stopped half-way goes on', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOut([1, 2, 3], 1));
    await settleDown(store);
    const [first] = await hands.take();
    await cancel(store, step['each'] ?? 0);
    await hands.done(first ?? 0, 1);
    await settleDown(store);
    const again = await retry(store, step['each'] ?? 0);
    assert.deepEqual([again.status, again.cancelRequestedAt], ['running', null]);
    for (let round = 0; round < 2; round += 1) {
      await settleDown(store);
      for (const id of await hands.take()) await hands.done(id, 2 + round);
    }
    await settleDown(store);
    const group = await readOne(store, step['each'] ?? 0);
    assert.deepEqual([group.status, group.result], ['done', [1, 2, 3]]);
    await hands.done(step['after'] ?? 0);
  });

  test('retry: a group whose parent is retried waits for it', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, fanOutOf([]));
    await hands.failed(step['list'] ?? 0);
    await settleDown(store);
    await retry(store, step['list'] ?? 0);
    await settleDown(store);
    assert.deepEqual(await statuses(store, [step['each'] ?? 0, step['after'] ?? 0]), ['blocked', 'blocked']);
    await hands.done(step['list'] ?? 0, ['x']);
    assert.equal(await store.expand(10, forever), 1);
  });

  test('workflow: a kept group is done, with the results it had', async ({ store }) => {
    const hands = await Hands.of(store);
    const first = await submitWorkflow(store, fanOut(['a']));
    await settleDown(store);
    for (const id of await hands.take()) await hands.done(id, 'A');
    await settleDown(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { keepFrom: first.step['each'] ?? 0 }), aStep('after', { parents: [0] })]),
    );
    assert.deepEqual((await readOne(store, step['each'] ?? 0)).result, ['A']);
    assert.equal(await store.expand(10, forever), 0);
    await hands.done(step['after'] ?? 0);
  });

  test('prune: items go with their workflow', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { forEach: { items: [1, 2], maxParallel: 1 } })]),
    );
    await settleDown(store);
    for (let round = 0; round < 2; round += 1) {
      for (const id of await hands.take()) await hands.done(id);
      await advance(2 * DAY_MS);
      if (round === 0) {
        assert.equal(await store.prune({ doneMs: DAY_MS, otherMs: DAY_MS, statsMs: DAY_MS }, 100, forever), 0);
      }
      await settleDown(store);
    }
    assert.equal((await readOne(store, step['each'] ?? 0)).status, 'done');
    await advance(2 * DAY_MS);
    assert.equal(await store.prune({ doneMs: DAY_MS, otherMs: DAY_MS, statsMs: DAY_MS }, 100, forever), 3);
    assert.deepEqual(ids(await itemsOf(store, step['each'] ?? 0)), []);
  });
}
