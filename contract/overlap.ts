import assert from 'node:assert/strict';
import type { OverlapPolicy } from '../src/core/schedule/schedule.ts';
import type { Store } from '../src/store/store.ts';
import { aStep } from './kit/builders.ts';
import { Hands, settleDown } from './kit/graph.ts';
import { aTarget, ledger, makeSchedule, PERIOD, story, tickAll } from './kit/schedules.ts';
import { cancel, claimOne, fail, forever, readOne, retry, succeed } from './kit/steps.ts';
import { type Advance, type OpenStore, withStore } from './kit/store.ts';

/** Ticks that are due while an earlier run has not ended. */
export function exerciseOverlap(open: OpenStore): void {
  const test = withStore(open);

  test('ticks: skip: an unfinished run of any kind blocks the next one, a retried run too', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store);
    const step = async () => {
      await advance(PERIOD);
      return (await tickAll(store)).map(({ verdict }) => verdict);
    };
    await advance(1_000);
    assert.deepEqual(await step(), ['ran']);
    const lease = await claimOne(store);
    assert.deepEqual(await step(), ['skipped_overlap']);
    assert.deepEqual(await step(), ['skipped_overlap']);
    await cancel(store, lease.job.id);
    assert.deepEqual(await step(), ['skipped_overlap'], 'the run has a cancel request but has not ended');
    await fail(store, lease);
    const manual = await store.runSchedule('nightly', { kind: 'manual', keys: null, instants: [] }, {}, forever);
    assert.equal(manual?.ticks[0]?.verdict, 'ran');
    assert.deepEqual(await step(), ['skipped_overlap'], 'a manual run counts');
    await cancel(store, manual?.ticks[0]?.jobId ?? 0);
    await retry(store, lease.job.id);
    assert.deepEqual(await step(), ['skipped_overlap'], 'a retried run counts');
    await succeed(store, await claimOne(store));
    assert.deepEqual(await step(), ['ran']);
    const rows = (await ledger(store, 'nightly')).filter(({ kind }) => kind === 'tick');
    assert.deepEqual(
      rows.map(({ verdict, count }) => [verdict, count]),
      [
        ['ran', 1],
        ['skipped_overlap', 5],
        ['ran', 1],
      ],
    );
    assert.equal(made.overlap, 'skip');
  });

  test('ticks: buffer_one: one run waits for the end of the running one, further ticks are skipped', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { overlap: 'buffer_one', target: aTarget({ maxAttempts: 1 }) });
    const ticks = await inSteps(store, advance, 3);
    assert.deepEqual(await story(store, made), ['ran 1', 'ran 2', 'skipped_overlap 3']);
    const buffered = await readOne(store, ticks[1]?.jobId ?? 0);
    assert.deepEqual(
      [buffered.status, buffered.dependsOn],
      ['blocked', [{ jobId: ticks[0]?.jobId, condition: 'ended' }]],
    );
    await fail(store, await claimOne(store));
    await settleDown(store);
    assert.equal((await readOne(store, ticks[0]?.jobId ?? 0)).status, 'failed');
    assert.equal(
      (await readOne(store, buffered.id)).status,
      'pending',
      'the buffered run starts however the first one ended',
    );
  });

  test('ticks: allow: every tick runs', async ({ store, advance }) => {
    const made = await makeSchedule(store, { overlap: 'allow' });
    const ticks = await inSteps(store, advance, 3);
    assert.deepEqual(await story(store, made), ['ran 1', 'ran 2', 'ran 3']);
    for (const { jobId } of ticks) assert.equal((await readOne(store, jobId ?? 0)).status, 'pending');
  });

  test('ticks: cancel_other: the new run waits for the end of the runs it replaces, which are listed until they have been cancelled', async ({
    store,
    advance,
  }) => {
    await makeSchedule(store, { overlap: 'cancel_other' });
    const [first] = await inSteps(store, advance, 1);
    const lease = await claimOne(store);
    assert.equal(lease.job.id, first?.jobId);
    await advance(PERIOD);
    const { ticks, stop } = await store.tick({ limit: 10 }, forever);
    const replaced = { tickId: ticks[0]?.id, runs: [{ jobId: lease.job.id, workflowId: null }] };
    assert.deepEqual(stop, [replaced]);
    assert.deepEqual((await store.tick({ limit: 10 }, forever)).stop, [replaced], 'listed until cancelled');
    await cancel(store, lease.job.id);
    await store.stoppedOthers([ticks[0]?.id ?? 0], forever);
    assert.deepEqual((await store.tick({ limit: 10 }, forever)).stop, []);
    const second = await readOne(store, ticks[0]?.jobId ?? 0);
    assert.equal(second.status, 'blocked', 'two runs never run at once');
    await fail(store, lease);
    assert.equal((await readOne(store, lease.job.id)).status, 'cancelled');
    assert.equal((await readOne(store, second.id)).status, 'pending');
  });

  for (const overlap of ['skip', 'buffer_one', 'cancel_other', 'allow'] as const) {
    test(`ticks: ${overlap}: a workflow runs until its last step has ended`, async ({ store, advance }) => {
      await exerciseWorkflowRuns(store, advance, overlap);
    });
  }

  test('ticks: a wide run waits for a wide run through one barrier step, not through one edge per pair of steps', async ({
    store,
    advance,
  }) => {
    const wide = Array.from({ length: 40 }, (_, n) => aStep(`s${n}`));
    const each = { items: { parent: 0, path: [] }, maxParallel: null };
    const steps = [...wide, aStep('previous-run', { parents: [0], forEach: each }), aStep('last', { parents: [40] })];
    await makeSchedule(store, { overlap: 'buffer_one', target: { workflow: { name: 'etl', params: {}, steps } } });
    await advance(PERIOD + 1_000);
    const [first] = await tickAll(store);
    const hands = await Hands.of(store);
    const running = await hands.take();
    assert.equal(running.length, 40);
    await advance(PERIOD);
    const [second] = await tickAll(store);
    const stepsOf = async (run: { workflowId: number | null } | undefined) =>
      await store.steps(run?.workflowId ?? 0, null, forever);
    const [before, next] = [await stepsOf(first), await stepsOf(second)];
    const gate = next[0];
    assert.deepEqual([before.length, next.length, gate?.key], [42, 43, 'previous-run-']);
    assert.equal(gate?.job.dependsOn.length, 42);
    for (const { job } of next.slice(1, 41)) {
      assert.deepEqual(job.dependsOn, [{ jobId: gate?.job.id, condition: 'ended' }]);
    }
    const standing = async () => new Set((await stepsOf(second)).slice(1, 41).map(({ job }) => job.status));
    for (const id of running) await hands.done(id, ['x']);
    await settleDown(store);
    assert.deepEqual(await standing(), new Set(['blocked']));
    for (const id of await hands.take()) await hands.done(id);
    await settleDown(store);
    assert.deepEqual(await standing(), new Set(['blocked']), 'the last step is running');
    for (const id of await hands.take()) await hands.done(id);
    await settleDown(store);
    assert.deepEqual(await standing(), new Set(['pending']));
    for (let round = 0; round < 3; round += 1) {
      for (const id of await hands.take()) await hands.done(id, ['x']);
      await settleDown(store);
    }
    const ends = (await stepsOf(second)).map(({ job }) => job.status);
    assert.deepEqual(new Set(ends), new Set(['done']));
    assert.equal((await store.workflow(second?.workflowId ?? 0, forever))?.status, 'done');
  });

  for (const overlap of ['buffer_one', 'cancel_other'] as const) {
    test(`ticks: ${overlap}: a run waits for a manually retried step of the run before`, async ({ store, advance }) => {
      const steps = [aStep('a', { job: { maxAttempts: 1 } }), aStep('b'), aStep('c', { parents: [0] })];
      await makeSchedule(store, { overlap, target: { workflow: { name: 'etl', params: {}, steps } } });
      await advance(PERIOD + 1_000);
      const [first] = await tickAll(store);
      const [a, b] = [await claimOne(store), await claimOne(store)];
      await fail(store, a);
      await settleDown(store);
      // While b runs, the next tick is due; a has failed, and c was skipped.
      await advance(PERIOD);
      const [second] = await tickAll(store);
      const next = async () =>
        (await store.steps(second?.workflowId ?? 0, null, forever)).slice(0, 2).map(({ job }) => job.status);
      assert.deepEqual(await next(), ['blocked', 'blocked']);
      await retry(store, a.job.id);
      await settleDown(store);
      await succeed(store, b);
      await settleDown(store);
      assert.deepEqual(await next(), ['blocked', 'blocked'], 'a is running again');
      await succeed(store, await claimOne(store));
      await settleDown(store);
      assert.deepEqual(await next(), ['blocked', 'blocked'], 'c has not ended');
      const c = await claimOne(store);
      assert.equal((await store.steps(first?.workflowId ?? 0, null, forever))[2]?.job.id, c.job.id);
      await succeed(store, c);
      await settleDown(store);
      assert.deepEqual(await next(), ['pending', 'pending']);
    });
  }
}

/** Runs `count` ticks one after the other, each a second late. */
async function inSteps(store: Store, advance: Advance, count: number) {
  await advance(1_000);
  const ticks = [];
  for (let step = 0; step < count; step += 1) {
    await advance(PERIOD);
    ticks.push(...(await tickAll(store)));
  }
  return ticks;
}

async function exerciseWorkflowRuns(store: Store, advance: Advance, overlap: OverlapPolicy): Promise<void> {
  const steps = [aStep('extract'), aStep('load', { parents: [0] })];
  const target = { workflow: { name: 'etl', params: { table: 'x' }, steps } };
  const made = await makeSchedule(store, { overlap, target });
  const [first, second, third] = await inSteps(store, advance, 3);
  assert.deepEqual(
    await story(store, made),
    {
      skip: ['ran 1', 'skipped_overlap 2-3'],
      buffer_one: ['ran 1', 'ran 2', 'skipped_overlap 3'],
      cancel_other: ['ran 1', 'ran 2', 'ran 3'],
      allow: ['ran 1', 'ran 2', 'ran 3'],
    }[overlap],
  );
  const stepsOf = (id: number | null | undefined) => store.steps(id ?? 0, null, forever);
  const [extract, load] = await stepsOf(first?.workflowId);
  assert.equal(extract?.job.tick?.scheduledFor, made.anchor + PERIOD);
  assert.equal(load?.job.tick?.schedule, 'nightly');
  assert.equal((await store.schedule('nightly', forever))?.lastWorkflowId !== null, true);
  const [next] = second?.workflowId ? await stepsOf(second.workflowId) : [];
  if (overlap === 'allow') {
    assert.equal(next?.job.status, 'pending');
    return;
  }
  const one = await claimOne(store);
  assert.equal(one.job.id, extract?.job.id);
  await succeed(store, one);
  assert.equal(
    next === undefined ? 'blocked' : (await readOne(store, next.job.id)).status,
    'blocked',
    'a step has not ended',
  );
  const two = await claimOne(store);
  assert.equal(two.job.id, load?.job.id);
  await succeed(store, two);
  await settleDown(store);
  if (next !== undefined) assert.equal((await readOne(store, next.job.id)).status, 'pending');
  if (overlap === 'cancel_other') {
    const [last] = await stepsOf(third?.workflowId);
    assert.equal(last?.job.status, 'blocked');
    const { stop } = await store.tick({ limit: 10 }, forever);
    assert.deepEqual(
      stop.map(({ runs }) => runs.map(({ workflowId }) => workflowId)),
      [[first?.workflowId], [first?.workflowId, second?.workflowId]],
    );
  }
  if (overlap === 'skip') {
    await advance(PERIOD);
    assert.equal((await tickAll(store))[0]?.verdict, 'ran', 'the next tick runs once the run has ended');
  }
}
