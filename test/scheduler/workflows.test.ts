/** What a person does to a whole workflow, on the memory store with the duty that propagates ends. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer, aStep, aWorker, aWorkflow } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import type { NewStep } from '../../src/core/dag/new-workflow.ts';
import type { WorkflowStep } from '../../src/core/dag/workflow.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { Wake } from '../../src/ops/wake.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { grapher } from '../../src/scheduler/duties/grapher.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { waitsFor } from '../kit/waits-for.ts';

const DONE: Outcome = { type: 'succeeded', exitCode: 0 };
const FAILED: Outcome = { type: 'failed', exitCode: 1, signal: null, error: 'exit 1', fatal: true };

/** A scheduler, a worker, and what each step is to end with. */
async function scene() {
  const clock = new VirtualClock();
  const store = openMemory({ clock });
  const parts = createScheduler({
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
    metrics: new Metrics('0', 'me'),
    instanceId: 'me',
    leaseMs: 30_000,
    heartbeatMs: 5_000,
  });
  const { scheduler } = parts;
  const graph = grapher(parts.context, new Wake());
  const { id: workerId } = await scheduler.register(aWorker(), signal);
  let claimSeq = 0;
  /** Runs whatever can run, until nothing can; answers with the steps that ran, in order. */
  const runAll = async (endOf: (key: string) => Outcome = () => DONE): Promise<string[]> => {
    const ran: string[] = [];
    for (;;) {
      await graph.tick(signal);
      claimSeq += 1;
      const claimed = await scheduler.claim({ workerId, limit: 1, offer: anOffer(), claimSeq, waitMs: 0 }, signal);
      const [job] = claimed;
      if (job === undefined) return ran;
      const { stepKey } = await scheduler.job(job.id, signal);
      ran.push(stepKey ?? '');
      clock.advance(10);
      const outcome = endOf(stepKey ?? '');
      await scheduler.settle([{ jobId: job.id, attempt: job.attempt, workerId, outcome }], signal);
    }
  };
  const submit = async (steps: readonly NewStep[]) =>
    (await scheduler.submitWorkflow(aWorkflow(steps), {}, signal)).workflow.id;
  const stepsOf = async (id: number) => allOf((await scheduler.workflow(id, signal)).pages);
  const states = async (id: number) => {
    const steps = await stepsOf(id);
    return Object.fromEntries(steps.map(({ key, job }) => [key, job.status]));
  };
  return { scheduler, runAll, submit, stepsOf, states, graph, store };
}

async function allOf(pages: AsyncIterable<WorkflowStep[]>): Promise<WorkflowStep[]> {
  const all: WorkflowStep[] = [];
  for await (const steps of pages) all.push(...steps);
  return all;
}

const CHAIN = [aStep('build'), aStep('test', { parents: [0] }), aStep('deploy', { parents: [1] })];

test('retry: a failed step and what was skipped because of it run again', async () => {
  const { scheduler, runAll, submit, states } = await scene();
  const id = await submit(CHAIN);
  assert.deepEqual(await runAll((key) => (key === 'test' ? FAILED : DONE)), ['build', 'test']);
  assert.deepEqual(await states(id), { build: 'done', test: 'failed', deploy: 'skipped' });
  assert.equal((await scheduler.workflow(id, signal)).status, 'failed');
  await scheduler.retryWorkflow(id, signal);
  assert.deepEqual(await runAll(), ['test', 'deploy']);
  assert.equal((await scheduler.workflow(id, signal)).status, 'done');
  await assert.rejects(scheduler.retryWorkflow(id, signal), { code: 'illegal_transition' });
});

test('retry: failures that count as success do not run again, alone or in a group', async () => {
  const { scheduler, runAll, submit, states } = await scene();
  const tolerant = { continueOnFailure: true };
  const id = await submit([
    aStep('plain', { job: tolerant }),
    aStep('each', { job: tolerant, forEach: { items: [1, 2], maxParallel: null } }),
    aStep('join', { parents: [0, 1] }),
    aStep('fails', { parents: [2] }),
  ]);
  const ran = await runAll((key) => (key === 'join' ? DONE : FAILED));
  assert.deepEqual(ran.toSorted(), ['each', 'each', 'fails', 'join', 'plain']);
  assert.deepEqual(await states(id), { plain: 'failed', each: 'failed', join: 'done', fails: 'failed' });
  await scheduler.retryWorkflow(id, signal);
  assert.deepEqual(await runAll(), ['fails']);
  assert.equal((await scheduler.workflow(id, signal)).status, 'done');
  await assert.rejects(scheduler.retryWorkflow(id, signal), /failures with continue_on_failure count as success/);
});

test('cancel: what waits ends at once, what runs is asked to stop', async () => {
  const { scheduler, submit, states, graph } = await scene();
  const id = await submit(CHAIN);
  const workflow = await scheduler.cancelWorkflow(id, signal);
  await graph.tick(signal);
  assert.equal(workflow.status, 'cancelled');
  assert.deepEqual(await states(id), { build: 'cancelled', test: 'cancelled', deploy: 'cancelled' });
});

test('rerun from a step: it and what is below run in a new workflow, what they need is kept', async () => {
  const { scheduler, runAll, submit, states } = await scene();
  const id = await submit([...CHAIN, aStep('report', { parents: [0] })]);
  await runAll();
  const again = await scheduler.rerunWorkflow(id, { from: 'test', only: false }, signal);
  assert.equal(again.rerunOf, id);
  assert.deepEqual(await states(again.id), { build: 'done', test: 'pending', deploy: 'blocked' });
  assert.deepEqual(await runAll(), ['test', 'deploy']);
  assert.equal((await scheduler.workflow(again.id, signal)).status, 'done');
});

test('rerun of only a step leaves out what is below it', async () => {
  const { scheduler, runAll, submit } = await scene();
  const id = await submit(CHAIN);
  await runAll();
  const again = await scheduler.rerunWorkflow(id, { from: 'test', only: true }, signal);
  assert.deepEqual(await runAll(), ['test']);
  assert.equal((await scheduler.workflow(again.id, signal)).status, 'done');
  await assert.rejects(scheduler.rerunWorkflow(id, { from: 'nope', only: false }, signal), { code: 'step_not_found' });
  await assert.rejects(scheduler.rerunWorkflow(id + 9, { from: 'test', only: false }, signal), {
    code: 'workflow_not_found',
  });
});

test('rerun: a parent that was not done runs as well', async () => {
  const { scheduler, runAll, submit } = await scene();
  const id = await submit(CHAIN);
  await runAll((key) => (key === 'build' ? FAILED : DONE));
  await scheduler.rerunWorkflow(id, { from: 'deploy', only: false }, signal);
  assert.deepEqual(await runAll(), ['build', 'test', 'deploy']);
});

test('the critical path is given by the keys of its steps', async () => {
  const { scheduler, runAll, submit } = await scene();
  const id = await submit(CHAIN);
  await runAll();
  const { pages, criticalPath } = await scheduler.workflow(id, signal);
  assert.equal((await allOf(pages)).length, 3);
  assert.deepEqual(criticalPath(), ['build', 'test', 'deploy']);
});

test('why: names the parent', async () => {
  const { scheduler } = await scene();
  const { items } = await scheduler.submit([aJob({ name: 'extract' })], {}, signal);
  const parent = items[0]?.job.id ?? 0;
  const child = await scheduler.submit([aJob({ dependsOn: [{ jobId: parent, condition: 'success' }] })], {}, signal);
  const { waiting } = await scheduler.job(child.items[0]?.job.id ?? 0, signal);
  assert.equal(waitsFor(waiting), `job ${parent} (extract), which is pending`);
});

test('a group is cancelled with its items, and retried by them', async () => {
  const { scheduler, runAll, submit, stepsOf, states } = await scene();
  const each = aStep('each', { forEach: { items: ['a', 'b', 'c'], maxParallel: null } });
  const id = await submit([each, aStep('after', { parents: [0] })]);
  let seen = 0;
  const ran = await runAll((key) => {
    if (key !== 'each') return DONE;
    seen += 1;
    return seen === 2 ? FAILED : DONE;
  });
  assert.equal(ran.length, 3);
  assert.deepEqual(await states(id), { each: 'failed', after: 'skipped' });
  const steps = await stepsOf(id);
  const group = steps[0]?.job.id ?? 0;
  assert.equal((await scheduler.retry(group, signal)).status, 'running');
  assert.deepEqual(await runAll(), ['each', 'after']);
  assert.equal((await scheduler.workflow(id, signal)).status, 'done');

  const other = await submit([aStep('each', { forEach: { items: [1, 2, 3], maxParallel: 1 } })]);
  const [waiting] = await stepsOf(other);
  await scheduler.cancel(waiting?.job.id ?? 0, { keepChildren: false }, signal);
  assert.deepEqual(await runAll(), []);
  assert.deepEqual(await states(other), { each: 'cancelled' });
});
