import assert from 'node:assert/strict';
import type { Condition } from '../src/core/dag/conditions.ts';
import type { Workflow } from '../src/core/dag/workflow.ts';
import { aJob, aStep, aWorkflow } from './kit/builders.ts';
import {
  after,
  cancelKeepingChildren,
  fates,
  Hands,
  readWorkflow,
  settleDown,
  statuses,
  submitChain,
  submitWorkflow,
} from './kit/graph.ts';
import { cancel, forever, ids, readOne, retry, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;
const RETENTION = { doneMs: DAY_MS, otherMs: 5 * DAY_MS, statsMs: DAY_MS };

/** `a`, then `b` and `c`, then `d`. */
const DIAMOND = aWorkflow([
  aStep('a'),
  aStep('b', { parents: [0] }),
  aStep('c', { parents: [0] }),
  aStep('d', { parents: [1, 2] }),
]);

/** Two parents and a step with a condition about both; how it must come out. */
const TOGETHER: [Condition, ['done' | 'failed' | 'cancelled', 'done' | 'failed' | 'cancelled'], string][] = [
  ['success', ['done', 'done'], 'pending'],
  ['success', ['done', 'failed'], 'skipped: upstream_failed'],
  ['success', ['cancelled', 'done'], 'skipped: upstream_failed'],
  ['failure', ['done', 'done'], 'skipped: condition'],
  ['failure', ['failed', 'done'], 'pending'],
  ['failure', ['cancelled', 'failed'], 'pending'],
  ['failure', ['cancelled', 'done'], 'skipped: condition'],
  ['ended', ['failed', 'cancelled'], 'pending'],
];

export function exerciseWorkflows(open: OpenStore): void {
  const test = withStore(open);

  test('workflow: is stored with its steps, in their order', async ({ store }) => {
    const before = await store.now(forever);
    const who = { submittedBy: 'ada' };
    const wanted = { ...DIAMOND, ...who, name: 'nightly ✓', params: { date: '2026-11-15', deep: { list: [1, null] } } };
    const { workflow, replayed } = await store.insertWorkflow(wanted, {}, forever);
    const { id, createdAt, ...rest } = workflow;
    assert.equal(replayed, false);
    assert.ok(id > 0 && createdAt >= before);
    assert.deepEqual(rest, {
      name: 'nightly ✓',
      params: wanted.params,
      notify: [],
      status: 'pending',
      startedAt: null,
      endedAt: null,
      rerunOf: null,
      definition: null,
      submittedBy: 'ada',
      total: 4,
      counts: { open: 4, fine: 0, failed: 0, cancelled: 0 },
    });
    assert.deepEqual(await readWorkflow(store, workflow), workflow);

    const steps = await store.steps(id, null, forever);
    const jobs = steps.map(({ job }) => job);
    assert.deepEqual(
      steps.map(({ key, condition, group }) => [key, condition, group]),
      ['a', 'b', 'c', 'd'].map((key) => [key, 'success', null]),
    );
    assert.deepEqual(
      ids(jobs),
      ids(jobs).toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      jobs.map(({ status, workflowId, stepKey, groupId, rerunOf }) => [status, workflowId, stepKey, groupId, rerunOf]),
      [
        ['pending', id, 'a', null, null],
        ['blocked', id, 'b', null, null],
        ['blocked', id, 'c', null, null],
        ['blocked', id, 'd', null, null],
      ],
    );
    assert.deepEqual(
      jobs[3]?.dependsOn,
      [jobs[1], jobs[2]].map((job) => ({ jobId: job?.id, condition: 'success' })),
    );
    assert.deepEqual(await store.read(ids(jobs), forever), jobs);
    assert.deepEqual(
      ids(await store.list({ workflowId: id }, { before: null, limit: 10 }, forever)),
      ids(jobs).toReversed(),
    );
  });

  test('workflow: steps that are made one at a time are stored as a list of them would be', async ({ store }) => {
    const hands = await Hands.of(store);
    const first = await submitOne(store, aJob());
    await hands.done(first.id);
    // A kept step, a long chain below it, and a step below all of them: more than any store writes at once.
    const many = 1_203;
    const stepAt = (place: number) => {
      if (place === 0) return aStep('kept', { keepFrom: first.id });
      if (place === many - 1) return aStep('end', { parents: Array.from({ length: many - 1 }, (_, parent) => parent) });
      return aStep(`s${place}`, { parents: [place - 1], job: { queue: `q${place % 3}` } });
    };
    const steps = {
      length: many,
      *[Symbol.iterator]() {
        for (let place = 0; place < many; place += 1) yield stepAt(place);
      },
    };
    const { workflow } = await store.insertWorkflow({ ...DIAMOND, steps }, {}, forever);
    assert.deepEqual([workflow.total, workflow.counts.open, workflow.counts.fine], [many, many - 1, 1]);
    const stored = await store.steps(workflow.id, null, forever);
    const places = new Map(stored.map(({ job }, place) => [job.id, place]));
    assert.deepEqual(
      stored.map(({ key, job }) => [key, job.queue, job.dependsOn.map(({ jobId }) => places.get(jobId))]),
      Array.from(steps, ({ key, job, parents }) => [key, job.queue, parents]),
    );
    assert.deepEqual(
      stored.map(({ job }) => job.status),
      ['done', 'pending', ...Array.from({ length: many - 2 }, () => 'blocked')],
    );
    const after = stored[99]?.job.id ?? 0;
    assert.deepEqual(await store.steps(workflow.id, { after: null, limit: 100 }, forever), stored.slice(0, 100));
    assert.deepEqual(await store.steps(workflow.id, { after, limit: 7 }, forever), stored.slice(100, 107));
    assert.deepEqual(await store.steps(workflow.id, { after: stored.at(-1)?.job.id ?? 0, limit: 7 }, forever), []);
    for (const { job } of stored.slice(1, 4)) await hands.done(job.id);
    assert.equal((await readOne(store, stored[4]?.job.id ?? 0)).status, 'pending');
  });

  test('workflow: a step that keeps what is not there is refused after many others, and nothing is stored', async ({
    store,
  }) => {
    const steps = Array.from({ length: 1_203 }, (_, place) => aStep(`s${place}`));
    steps.push(aStep('kept', { keepFrom: 999_999 }));
    await assert.rejects(store.insertWorkflow({ ...DIAMOND, steps }, {}, forever), { code: 'job_not_found' });
    assert.deepEqual(await store.workflows({}, { before: null, limit: 10 }, forever), []);
    assert.deepEqual(await store.list({}, { before: null, limit: 10 }, forever), []);
  });

  test('workflow: what is not there is not there', async ({ store }) => {
    assert.equal(await store.workflow(999_999, forever), undefined);
    assert.deepEqual(await store.steps(999_999, null, forever), []);
    assert.deepEqual(await store.workflows({}, { before: null, limit: 10 }, forever), []);
  });

  test('workflow: starts with the first claim and ends with the last step', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, DIAMOND);
    await advance(1_000);
    const { job } = await hands.lease(step['a'] ?? 0);
    const started = await readWorkflow(store, workflow);
    assert.deepEqual([started.status, started.startedAt], ['running', job.startedAt]);

    await advance(1_000);
    for (const key of ['a', 'b', 'c']) await hands.done(step[key] ?? 0);
    const running = await readWorkflow(store, workflow);
    assert.deepEqual([running.status, running.startedAt, running.endedAt], ['running', job.startedAt, null]);
    assert.deepEqual(running.counts, { open: 1, fine: 3, failed: 0, cancelled: 0 });

    await hands.done(step['d'] ?? 0);
    const ended = await readWorkflow(store, workflow);
    assert.deepEqual([ended.status, ended.startedAt], ['done', job.startedAt]);
    assert.equal(ended.endedAt, (await readOne(store, step['d'] ?? 0)).doneAt);
    assert.deepEqual(ended.counts, { open: 0, fine: 4, failed: 0, cancelled: 0 });
  });

  test('workflow: fails if a step fails, with everything after it skipped', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, DIAMOND);
    await hands.done(step['a'] ?? 0);
    await hands.failed(step['b'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'running');
    assert.equal((await readOne(store, step['d'] ?? 0)).status, 'blocked', 'a step waits for all of its parents');
    await hands.done(step['c'] ?? 0);
    const ended = await readWorkflow(store, workflow);
    assert.deepEqual(ended.counts, { open: 0, fine: 3, failed: 1, cancelled: 0 });
    assert.equal(ended.status, 'failed');
    assert.ok(ended.endedAt !== null);
  });

  test('workflow: is cancelled if a step is and none failed', async ({ store }) => {
    const { workflow, step } = await submitWorkflow(store, DIAMOND);
    await cancel(store, step['a'] ?? 0);
    await settleDown(store);
    const ended = await readWorkflow(store, workflow);
    assert.deepEqual([ended.status, ended.startedAt], ['cancelled', null]);
    assert.deepEqual(ended.counts, { open: 0, fine: 0, failed: 0, cancelled: 4 });
  });

  test('workflow: a step that may fail does not fail it', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(
      store,
      aWorkflow([
        aStep('a', { job: { continueOnFailure: true } }),
        aStep('b', { parents: [0] }),
        aStep('c', { parents: [0], condition: 'failure' }),
      ]),
    );
    await hands.failed(step['a'] ?? 0);
    await hands.done(step['b'] ?? 0);
    const ended = await readWorkflow(store, workflow);
    assert.deepEqual(ended.counts, { open: 0, fine: 3, failed: 0, cancelled: 0 });
    assert.equal(ended.status, 'done');
    assert.deepEqual(await fates(store, [{ id: step['c'] ?? 0 }]), ['skipped: condition']);
  });

  test('workflow: a step’s condition is about its parents together', async ({ store }) => {
    const hands = await Hands.of(store);
    for (const [condition, ends, fate] of TOGETHER) {
      const { step } = await submitWorkflow(
        store,
        aWorkflow([aStep('a'), aStep('b'), aStep('c', { parents: [0, 1], condition })]),
      );
      const child = { id: step['c'] ?? 0 };
      for (const [index, key] of ['a', 'b'].entries()) {
        assert.deepEqual(await fates(store, [child]), ['blocked'], 'not before all have ended');
        const id = step[key] ?? 0;
        if (ends[index] === 'done') await hands.done(id);
        if (ends[index] === 'failed') await hands.failed(id);
        if (ends[index] === 'cancelled') await cancelKeepingChildren(store, id);
        // A running job was only asked to stop: its worker ends it.
        if ((await readOne(store, id)).status === 'running') await hands.cancelled(id);
      }
      assert.deepEqual(await fates(store, [child]), [fate], `${condition} of ${ends.join(' and ')}`);
      if (fate === 'pending') await hands.done(child);
    }
  });

  test('workflow: steps show their condition', async ({ store }) => {
    const { workflow } = await submitWorkflow(
      store,
      aWorkflow([
        aStep('a'),
        aStep('b', { parents: [0], condition: 'failure' }),
        aStep('c', { parents: [0, 1], condition: 'ended' }),
      ]),
    );
    assert.deepEqual(
      (await store.steps(workflow.id, null, forever)).map(({ condition }) => condition),
      ['success', 'failure', 'ended'],
    );
  });

  test('workflow: a retried step makes it run again, and what it skipped is open again', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, DIAMOND);
    await hands.failed(step['a'] ?? 0);
    await settleDown(store);
    const failed = await readWorkflow(store, workflow);
    assert.deepEqual([failed.status, failed.counts], ['failed', { open: 0, fine: 3, failed: 1, cancelled: 0 }]);

    await retry(store, step['a'] ?? 0);
    await settleDown(store);
    const again = await readWorkflow(store, workflow);
    assert.deepEqual([again.status, again.endedAt], ['running', null]);
    assert.deepEqual(again.counts, { open: 4, fine: 0, failed: 0, cancelled: 0 });
    for (const key of ['a', 'b', 'c', 'd']) await hands.done(step[key] ?? 0);
    const done = await readWorkflow(store, workflow);
    assert.deepEqual([done.status, done.counts], ['done', { open: 0, fine: 4, failed: 0, cancelled: 0 }]);
    assert.equal(done.startedAt, failed.startedAt);
  });

  test('workflow: steps that end in one call are all counted', async ({ store }) => {
    const hands = await Hands.of(store);
    const steps = Array.from({ length: 20 }, (_, index) => aStep(`s${index}`));
    const { workflow, step } = await submitWorkflow(store, aWorkflow(steps));
    await hands.take();
    const leases = await Promise.all(Object.values(step).map((id) => hands.lease(id)));
    await store.settle(
      leases.map(({ job, workerId }) => ({ jobId: job.id, attempt: job.attempt, workerId, exitCode: 0 })),
      forever,
    );
    const done = await readWorkflow(store, workflow);
    assert.deepEqual([done.status, done.counts.fine], ['done', 20]);
  });

  test('workflow: steps that end at the same time are all counted', async ({ store }) => {
    const hands = await Hands.of(store);
    const parents = Array.from({ length: 8 }, (_, index) => aStep(`s${index}`));
    const last = aStep('last', { parents: parents.map((_, index) => index) });
    const { workflow, step } = await submitWorkflow(store, aWorkflow([...parents, last]));
    await hands.take();
    await Promise.all(parents.map(({ key }) => hands.done(step[key] ?? 0)));
    assert.deepEqual((await readWorkflow(store, workflow)).counts, { open: 1, fine: 8, failed: 0, cancelled: 0 });
    await hands.done(step['last'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });

  test('workflow: kept steps are done from the start, with the results they had', async ({ store }) => {
    const hands = await Hands.of(store);
    const first = await submitWorkflow(store, DIAMOND);
    await hands.done(first.step['a'] ?? 0, { rows: [1, 2] });
    const [a, b] = [first.step['a'] ?? 0, first.step['b'] ?? 0];
    await hands.done(b);
    const second = await submitWorkflow(
      store,
      aWorkflow(
        [
          aStep('a', { keepFrom: a }),
          aStep('b', { keepFrom: b }),
          aStep('c', { parents: [0] }),
          aStep('d', { parents: [1, 2] }),
          aStep('alarm', { parents: [0, 1], condition: 'failure' }),
          aStep('below', { parents: [4] }),
        ],
        { rerunOf: first.workflow.id },
      ),
    );
    assert.equal(second.workflow.rerunOf, first.workflow.id);
    assert.deepEqual(second.workflow.counts, { open: 2, fine: 4, failed: 0, cancelled: 0 });
    assert.equal(second.workflow.status, 'running');
    const steps = await store.steps(second.workflow.id, null, forever);
    assert.deepEqual(
      steps.map(({ job }) => (job.reason === null ? job.status : `${job.status}: ${job.reason}`)),
      ['done', 'done', 'pending', 'blocked', 'skipped: condition', 'skipped: upstream_failed'],
    );
    const kept = steps[0]?.job ?? assert.fail();
    assert.deepEqual([kept.result, kept.rerunOf, kept.attempt], [{ rows: [1, 2] }, a, 0]);
    assert.ok(kept.doneAt !== null);
    assert.deepEqual(await store.attempts(kept.id, forever), []);
    await hands.done(second.step['c'] ?? 0);
    await hands.done(second.step['d'] ?? 0);
    assert.equal((await readWorkflow(store, second.workflow)).status, 'done');
  });

  test('workflow: with all of its steps kept is done', async ({ store }) => {
    const hands = await Hands.of(store);
    const [job] = await submitChain(store, 1);
    await hands.done(job?.id ?? 0);
    const wanted = aWorkflow([aStep('a', { keepFrom: job?.id ?? 0 })]);
    const { workflow } = await store.insertWorkflow(wanted, {}, forever);
    assert.equal(workflow.status, 'done');
    assert.ok(workflow.endedAt !== null);
  });

  test('workflow: is stored whole or not at all', async ({ store }) => {
    const wanted = aWorkflow([aStep('a'), aStep('b', { keepFrom: 999_999 })]);
    await assert.rejects(store.insertWorkflow(wanted, {}, forever), { code: 'job_not_found' });
    assert.equal(await store.count({}, 10, forever), 0);
    assert.deepEqual(await store.workflows({}, { before: null, limit: 10 }, forever), []);
  });

  test('workflow: an idempotency key stores it once', async ({ store }) => {
    const options = { idempotency: { key: 'k', fingerprint: 'f' } };
    const first = await store.insertWorkflow(DIAMOND, options, forever);
    const [one, two] = await Promise.all([1, 2].map(() => store.insertWorkflow(DIAMOND, options, forever)));
    assert.deepEqual([first.replayed, one?.replayed, two?.replayed], [false, true, true]);
    assert.deepEqual([one?.workflow, two?.workflow], [first.workflow, first.workflow]);
    assert.equal(await store.count({}, 10, forever), 4);
    const other = { idempotency: { key: 'k', fingerprint: 'g' } };
    await assert.rejects(store.insertWorkflow(DIAMOND, other, forever), { code: 'idempotency_mismatch' });
  });

  test('workflow: listed newest first, by status and by name, page after page', async ({ store }) => {
    const hands = await Hands.of(store);
    const stored: Workflow[] = [];
    for (const name of ['x', 'y', 'x', 'y', 'x']) {
      stored.push((await store.insertWorkflow(aWorkflow([aStep('a')], { name }), {}, forever)).workflow);
    }
    const [first, second] = stored as [Workflow, Workflow];
    await hands.done((await store.steps(first.id, null, forever))[0]?.job.id ?? 0);
    await hands.failed((await store.steps(second.id, null, forever))[0]?.job.id ?? 0);
    const all = { before: null, limit: 10 };
    const newest = ids(stored).toReversed();
    assert.deepEqual(ids(await store.workflows({}, all, forever)), newest);
    assert.deepEqual(ids(await store.workflows({}, { before: newest[1] ?? 0, limit: 2 }, forever)), newest.slice(2, 4));
    assert.deepEqual(ids(await store.workflows({ name: 'y' }, all, forever)), [newest[1], newest[3]]);
    assert.deepEqual(ids(await store.workflows({ status: 'done' }, all, forever)), [first.id]);
    assert.deepEqual(ids(await store.workflows({ status: 'failed', name: 'y' }, all, forever)), [second.id]);
    assert.deepEqual(ids(await store.workflows({ status: 'failed', name: 'x' }, all, forever)), []);
  });

  test('workflow: a job of its own may wait for a step, and does not belong to it', async ({ store }) => {
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, aWorkflow([aStep('a')]));
    const job = await submitOne(store, after([{ id: step['a'] ?? 0 }]));
    await hands.done(step['a'] ?? 0);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
    assert.deepEqual(await statuses(store, [job]), ['pending']);
    await hands.failed(job);
    assert.equal((await readWorkflow(store, workflow)).status, 'done');
  });

  test('workflow: lists of jobs, and unfinished steps of many, can be asked for by workflow', async ({ store }) => {
    const one = await submitWorkflow(store, DIAMOND);
    const two = await submitWorkflow(store, DIAMOND);
    for (const { workflow, step } of [one, two]) {
      assert.equal(await store.count({ workflowId: workflow.id }, 10, forever), 4);
      const pending = await store.list(
        { workflowId: workflow.id, statuses: ['pending'] },
        { before: null, limit: 5 },
        forever,
      );
      assert.deepEqual(ids(pending), [step['a']]);
    }
  });

  test('prune: a workflow goes as a whole, by its own end and status', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const done = await submitWorkflow(store, aWorkflow([aStep('a'), aStep('b', { parents: [0] })]));
    const failed = await submitWorkflow(store, aWorkflow([aStep('a'), aStep('b', { parents: [0] })]));
    await hands.done(done.step['a'] ?? 0);
    await hands.done(failed.step['a'] ?? 0);
    await advance(3 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 0, 'steps do not go alone');
    await hands.done(done.step['b'] ?? 0);
    await hands.failed(failed.step['b'] ?? 0);
    await advance(2 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 2);
    assert.equal(await store.workflow(done.workflow.id, forever), undefined);
    assert.deepEqual(await store.steps(done.workflow.id, null, forever), []);
    assert.deepEqual(await statuses(store, Object.values(failed.step)), ['done', 'failed']);
    await advance(4 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 2);
    assert.equal(await store.count({}, 10, forever), 0);
    assert.deepEqual(await store.workflows({}, { before: null, limit: 10 }, forever), []);
  });

  test('workflows: skipped steps are counted by workflow', async ({ store }) => {
    const hands = await Hands.of(store);
    const chain = [aStep('a', { job: { maxAttempts: 1 } }), aStep('b', { parents: [0] }), aStep('c', { parents: [1] })];
    const broken = await submitWorkflow(store, aWorkflow(chain));
    const fine = await submitWorkflow(store, aWorkflow([aStep('a')]));
    await hands.failed(broken.step['a'] ?? 0);
    await hands.done(fine.step['a'] ?? 0);
    await settleDown(store);
    assert.deepEqual(await store.skippedSteps([broken.workflow.id, fine.workflow.id, 999_999], forever), [
      { workflowId: broken.workflow.id, count: 2 },
    ]);
  });

  test('prune: not a workflow of which somebody unfinished depends on a step', async ({ store, advance }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(store, aWorkflow([aStep('a'), aStep('b')]));
    const child = await submitOne(store, after([{ id: step['a'] ?? 0 }]));
    await hands.done(step['a'] ?? 0);
    await hands.done(step['b'] ?? 0);
    await advance(9 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 0);
    await hands.done(child);
    assert.equal(await store.prune(RETENTION, 100, forever), 2);
  });
}
