import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { aStep, aWorkflow } from '../../../contract/kit/builders.ts';
import { Hands, readWorkflow, settleDown, submitWorkflow } from '../../../contract/kit/graph.ts';
import { claim, forever, register, success } from '../../../contract/kit/steps.ts';
import type { NewStep } from '../../../src/core/dag/new-workflow.ts';
import type { Status } from '../../../src/core/job.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { effort } from '../../effort.ts';
import { Child } from '../../kit/child.ts';
import { aFolder, openTestSqlite } from '../../kit/sqlite.ts';

/** Steps each of which waits for the one before. */
function chain(length: number): NewStep[] {
  return Array.from({ length }, (_, index) => aStep(`s${index}`, { parents: index === 0 ? [] : [index - 1] }));
}

const WIDTH = 100;

/** Layers of steps, each of which waits for three of the layer before. */
function layers(length: number): NewStep[] {
  return Array.from({ length }, (_, index) => {
    const above = index - (index % WIDTH) - WIDTH;
    const parents = above < 0 ? [] : [0, 3, 70].map((offset) => above + ((index + offset) % WIDTH));
    return aStep(`s${index}`, { parents });
  });
}

function count(store: Store, workflowId: number, status: Status): Promise<number> {
  return store.count({ workflowId, statuses: [status] }, 1_000_000, forever);
}

/** Opens the file for as long as `use` takes. */
async function withFile<T>(file: string, use: (store: Store) => Promise<T>): Promise<T> {
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  return await use(store);
}

/** How often the process is killed, and so begins with what the one before left behind. */
const LIVES = 4;

/** Kills a process that works on the graph, once it has told of a few batches, anywhere within another. */
async function killHalfWay(file: string): Promise<void> {
  await using child = Child.script(new URL('../../kit/sqlite-grapher.ts', import.meta.url), file);
  for (let heard = 0; heard < 5; heard += 1) assert.ok(await child.line(), 'it was over before it was killed');
  await setTimeout(Math.random() * 5);
  await child.kill();
}

test('sqlite: kill -9 half-way down a chain leaves nothing blocked for ever', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const length = effort.graphNodes;
  const workflow = await withFile(file, async (store) => {
    const submitted = await submitWorkflow(store, aWorkflow(chain(length)));
    await (await Hands.of(store)).failed(submitted.step['s0'] as number);
    return submitted.workflow;
  });
  let skipped = 1;
  for (let life = 0; life < LIVES; life += 1) {
    await killHalfWay(file);
    const found = await withFile(file, (store) => count(store, workflow.id, 'skipped'));
    assert.ok(found >= skipped + 50 && found < length - 1, `${found} skipped`);
    skipped = found;
  }

  await withFile(file, async (store) => {
    await settleDown(store);
    assert.equal(await count(store, workflow.id, 'skipped'), length - 1);
    const { status, counts } = await readWorkflow(store, workflow);
    assert.equal(status, 'failed');
    assert.deepEqual(counts, { open: 0, fine: length - 1, failed: 1, cancelled: 0 });
  });
});

test('sqlite: kill -9 while a group is filled gives each index exactly once', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  const total = effort.graphItems;
  const { workflow, step } = await withFile(file, async (store) => {
    const items = { parent: 0, path: ['files'] };
    const submitted = await submitWorkflow(
      store,
      aWorkflow([
        aStep('list'),
        aStep('each', { parents: [0], forEach: { items, maxParallel: null } }),
        aStep('after', { parents: [1] }),
      ]),
    );
    const files = Array.from({ length: total }, (_, index) => `file ${index}`);
    await (await Hands.of(store)).done(submitted.step['list'] as number, { files });
    return submitted;
  });
  let inserted = 0;
  for (let life = 0; life < LIVES; life += 1) {
    await killHalfWay(file);
    const found = await withFile(file, (store) => store.count({ groupId: step['each'] as number }, total + 1, forever));
    assert.ok(found >= inserted + 50 && found < total, `${found} inserted`);
    inserted = found;
  }

  await withFile(file, async (store) => {
    await settleDown(store);
    const worker = await register(store);
    const values: unknown[] = [];
    for (;;) {
      const claimed = await claim(store, worker.id, { limit: 1_000 });
      if (claimed.length === 0) break;
      const results = claimed.map((job) => {
        const item = job.runContext?.item;
        if (item === undefined || item === null) return undefined;
        assert.equal(values[item.index], undefined, `index ${item.index} is there twice`);
        values[item.index] = item.value;
        return item.value;
      });
      await store.settle(
        claimed.map((job, index) => success({ job, workerId: worker.id }, results[index])),
        forever,
      );
      await settleDown(store);
    }
    const files = Array.from({ length: total }, (_, index) => `file ${index}`);
    assert.deepEqual(values, files);
    const [group] = await store.read([step['each'] as number], forever);
    assert.deepEqual(group?.result, files);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });
});

test('sqlite: a large graph goes in by one call and drains in order', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const steps = layers(effort.graphNodes);
  const { workflow } = await store.insertWorkflow(aWorkflow(steps), {}, forever);
  assert.equal(workflow.total, steps.length);
  const worker = await register(store);
  const first = (await store.steps(workflow.id, null, forever))[0]?.job.id as number;

  const done = new Set<number>();
  for (;;) {
    // Never a whole layer, so that some children have only a part of their parents behind them.
    const claimed = await claim(store, worker.id, { limit: 70 });
    if (claimed.length === 0) break;
    for (const { id } of claimed) {
      const parents = steps[id - first]?.parents ?? [];
      assert.ok(
        parents.every((parent) => done.has(first + parent)),
        `job ${id} started before its parents had ended`,
      );
    }
    const settled = await store.settle(
      claimed.map((job) => success({ job, workerId: worker.id })),
      forever,
    );
    assert.ok(settled.every(({ result }) => result === 'ok'));
    for (const { id } of claimed) done.add(id);
  }
  assert.equal(done.size, steps.length);
  const { status, counts } = await readWorkflow(store, workflow);
  assert.equal(status, 'done');
  assert.equal(counts.fine, steps.length);
});

test('sqlite: the failure of its head skips a long chain in bounded steps, between which others are served', async () => {
  await using opened = await openTestSqlite();
  const { store } = opened;
  const length = effort.graphNodes;
  const { workflow, step } = await submitWorkflow(store, aWorkflow(chain(length)));
  const hands = await Hands.of(store);
  await hands.failed(step['s0'] as number);
  let carried = 0;
  for (;;) {
    // Another's call, made while the batch is on its way.
    const [batch] = await Promise.all([store.cascade(1_000, forever), hands.take()]);
    if (batch === 0) break;
    assert.ok(batch <= 1_000);
    carried += batch;
  }
  // The last has no children, and the head's were told with its end.
  assert.equal(carried, length - 2);
  assert.equal(await count(store, workflow.id, 'skipped'), length - 1);
});
