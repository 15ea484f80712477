/** A store with something of every kind in it, and all that the API shows of it. */

import assert from 'node:assert/strict';
import { aJob, aStep, aWorkflow, jobs } from '../../contract/kit/builders.ts';
import { settleDown } from '../../contract/kit/graph.ts';
import { ledger, makeSchedule } from '../../contract/kit/schedules.ts';
import { claim, claimOne, fail, forever, submitOne, succeed } from '../../contract/kit/steps.ts';
import { anEntry, aToken } from '../../contract/kit/tokens.ts';
import type { Store } from '../../src/store/store.ts';

/** The keys of calls that a store with this content answers as before. */
const IDEMPOTENT = {
  jobs: { key: 'POST /jobs k', fingerprint: 'f' },
  workflow: { key: 'POST /workflows k', fingerprint: 'f' },
  schedule: { key: 'POST /schedules/nightly/run k', fingerprint: 'f' },
};

/** Something of every kind. */
export async function fill(store: Store): Promise<void> {
  const rate = { limit: 100, perMs: 60_000, burst: 20 };
  await store.setQueue('mail', { paused: true, maxRunning: 3, rate }, forever);
  await succeed(store, await claimOne(store, aJob({ tags: ['a "b"', 'ü\\'], env: { X: 'tab\there' } })), 'text \\ "q"');
  await fail(store, await claimOne(store, aJob({ command: 'line\nline', maxAttempts: 1 })));
  const lease = await claimOne(store, aJob({ unique: { key: 'k', while: 'active', onConflict: 'existing' } }));
  const held = { jobId: lease.job.id, attempt: lease.job.attempt, workerId: lease.workerId };
  const data = Buffer.from([0, 92, 10, 255]);
  await store.appendLogs([{ ...held, offset: 0, data }], forever);
  await store.writeCheckpoint({ ...held, upload: 1, offset: 0, data, complete: { kind: 'bytes' } }, forever);
  await store.report([{ ...held, progress: { fraction: 0.1, text: 'x' } }], forever);
  const limited = aJob({ limits: [{ key: 'k', max: 1 }] });
  const { workerId } = await claimOne(store, limited);
  await submitOne(store, limited);
  assert.deepEqual(await claim(store, workerId), [], 'its limit is full');
  await store.insert(jobs(20, { fairKey: 'f', queue: 'fair' }), {}, forever);
  await store.insert([aJob({ delayMs: 3_600_000, rerun: 'never' })], { idempotency: IDEMPOTENT.jobs }, forever);
  const steps = [aStep('a'), aStep('b', { parents: [0] }), aStep('c', { parents: [1], condition: 'failure' })];
  await store.insertWorkflow(aWorkflow(steps, { params: { n: [1, { x: null }] } }), {}, forever);
  const overItems = aWorkflow([aStep('each', { forEach: { items: ['a', { b: 1 }], maxParallel: 1 } })]);
  await store.insertWorkflow(overItems, { idempotency: IDEMPOTENT.workflow }, forever);
  await settleDown(store);
  await store.putDefinition({ name: 'etl', source: '# etl', body: '{"steps":["a"]}' }, [], forever);
  await makeSchedule(store, { name: 'nightly' });
  const options = { idempotency: IDEMPOTENT.schedule };
  await store.runSchedule('nightly', { kind: 'manual', keys: null, instants: [] }, options, forever);
  await store.createToken(aToken({ name: 'ci', queues: ['a'], lifeMs: 5_000_000 }), forever);
  await store.putSecret({ name: 'password', keyId: 'k1', sealed: 'c2VhbGVk' }, forever);
  await store.addAudit([anEntry()], forever);
  await store.createOperation({ action: 'cancel', filter: { queue: 'q' }, total: 3, askedBy: null }, forever);
  await store.addStats(
    [{ minute: 60_000, instanceId: 'i', queue: 'q', outcome: 'done', count: 1, wait: [1, 2], run: [3] }],
    forever,
  );
}

/** What the API shows. */
export async function everything(store: Store) {
  const listed = await store.list({}, { before: null, limit: 1_000 }, forever);
  const ids = listed.map(({ id }) => id);
  return {
    jobs: (await store.read(ids, forever)).sort((a, b) => a.id - b.id),
    attempts: await Promise.all(ids.map((id) => store.attempts(id, forever))),
    logs: await Promise.all(ids.map((jobId) => store.readLog({ jobId, attempt: 1, from: 0, maxBytes: 100 }, forever))),
    checkpoints: await Promise.all(ids.map((id) => store.checkpoint(id, forever))),
    queues: await store.queues(forever),
    limits: await store.limits(forever),
    workers: await store.workers(forever),
    workflows: await Promise.all([1, 2].map((id) => store.workflow(id, forever))),
    steps: await Promise.all([1, 2].map((id) => store.steps(id, null, forever))),
    definition: await store.definition('etl', null, forever),
    schedules: await store.schedules({}, { after: null, limit: 10 }, forever),
    ticks: await ledger(store, 'nightly'),
    operation: await store.operation(1, forever),
    tokens: await store.validTokens(forever),
    secrets: await store.secrets(null, forever),
    audit: await store.audit({}, { before: null, limit: 10 }, forever),
  };
}

/** Repeats the calls with idempotency keys. Fails the test if one of them is not answered as before. */
export async function assertAnswersAgain(store: Store): Promise<void> {
  const { jobs: key, workflow, schedule } = IDEMPOTENT;
  const before = await store.count({}, 1_000, forever);
  const again = await store.insert([aJob({ delayMs: 3_600_000, rerun: 'never' })], { idempotency: key }, forever);
  assert.equal(again.replayed, true);
  const flow = await store.insertWorkflow(aWorkflow([aStep('a')]), { idempotency: workflow }, forever);
  assert.deepEqual([flow.replayed, flow.workflow.id], [true, 2]);
  const run = await store.runSchedule(
    'nightly',
    { kind: 'manual', keys: null, instants: [] },
    { idempotency: schedule },
    forever,
  );
  assert.equal(run?.replayed, true);
  assert.equal(await store.count({}, 1_000, forever), before, 'nothing is new');
}
