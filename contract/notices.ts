import assert from 'node:assert/strict';
import type { NewJob } from '../src/core/job.ts';
import type { Delivery } from '../src/core/notice.ts';
import type { Notify, NotifyEvent } from '../src/core/notify.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, aStep, aWorkflow } from './kit/builders.ts';
import { after, Hands, settleDown, submitWorkflow } from './kit/graph.ts';
import {
  cancel,
  claimOne,
  decide,
  fail,
  forever,
  loseLeases,
  readOne,
  report,
  retry,
  submitOne,
  succeed,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const tells = (...on: NotifyEvent[]): Notify[] => [
  { on, target: { type: 'command', command: 'true' }, lateAfterMs: 60_000 },
];
const onFailure: Partial<NewJob> = { maxAttempts: 1, notify: tells('failed') };
const onRecovery: Partial<NewJob> = { maxAttempts: 1, name: 'backup', notify: tells('recovered') };
const message = (event: NotifyEvent = 'failed') => ({
  event,
  job: aJob({ queue: 'workron.notify', delayMs: 3_600_000 }),
});
const one: Delivery = { alarm: null, messages: [message()] };

/** The open notices, as `failed 12`. */
async function open(store: Store): Promise<string[]> {
  const notices = await store.notices(100, forever);
  return notices.map(({ status, jobId, workflowId }) => `${status} ${jobId ?? `workflow ${workflowId}`}`);
}

async function failOne(store: Store, job: Partial<NewJob>): Promise<number> {
  const lease = await claimOne(store, aJob(job));
  await fail(store, lease);
  return lease.job.id;
}

async function finishOne(store: Store, job: Partial<NewJob>): Promise<number> {
  const lease = await claimOne(store, aJob(job));
  await succeed(store, lease);
  return lease.job.id;
}

export function exerciseNotices(openStore: OpenStore): void {
  const test = withStore(openStore);

  test('notices: a job with a target writes a notice at its final failure, and not before', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob({ maxAttempts: 2, notify: tells('failed') }));
    await fail(store, lease);
    assert.deepEqual(await open(store), []);
    await advance(60_000);
    await store.promote(10, forever);
    const again = await claimOne(store);
    await fail(store, again);
    const [notice] = await store.notices(10, forever);
    assert.ok(notice);
    const { id: _, createdAt, dueAt, ...rest } = notice;
    assert.equal(createdAt, dueAt);
    assert.deepEqual(rest, {
      kind: 'ended',
      jobId: lease.job.id,
      workflowId: null,
      status: 'failed',
      schedule: null,
      detail: {},
    });
  });

  test('notices: a postponed notice is returned after the others, once its delay is over', async ({
    store,
    advance,
  }) => {
    for (let count = 0; count < 3; count += 1) await failOne(store, onFailure);
    const [first, second, third] = await store.notices(10, forever);
    assert.ok(first && second && third);
    await store.postponeNotice(first.id, 5_000, forever);
    await store.postponeNotice(second.id, 5_000, forever);
    assert.deepEqual(await store.notices(1, forever), [third]);
    await advance(2_500);
    await store.postponeNotice(second.id, 10_000, forever);
    await advance(2_500);
    assert.deepEqual(
      await store.notices(10, forever),
      [third, first],
      'the notice is unchanged: its creation time stays',
    );
    await advance(7_500);
    assert.deepEqual(await store.notices(10, forever), [third, first, second]);
    await store.deliver(second.id, one, forever);
    await store.postponeNotice(second.id, 0, forever);
    assert.deepEqual(await store.notices(10, forever), [third, first], 'a delivered notice cannot be postponed');
  });

  test('notices: a job without targets, or with an end that no target asks for, writes none', async ({ store }) => {
    await failOne(store, { maxAttempts: 1 });
    await finishOne(store, onFailure);
    await finishOne(store, {});
    const waiting = await submitOne(store, aJob(onRecovery));
    await cancel(store, waiting.id);
    await failOne(store, { maxAttempts: 1, notify: tells('missed', 'late') });
    assert.deepEqual(await open(store), []);
  });

  test('notices: a target for recoveries gets notices of failures and successes', async ({ store }) => {
    const failed = await failOne(store, onRecovery);
    const done = await finishOne(store, onRecovery);
    assert.deepEqual(await open(store), [`failed ${failed}`, `done ${done}`]);
  });

  test('notices: done and slow get every success, slow also failures', async ({ store }) => {
    const done = await finishOne(store, { notify: tells('done') });
    await failOne(store, { maxAttempts: 1, notify: tells('done') });
    const quick = await finishOne(store, { notify: tells('slow') });
    const failed = await failOne(store, { maxAttempts: 1, notify: tells('slow') });
    assert.deepEqual(await open(store), [`done ${done}`, `done ${quick}`, `failed ${failed}`]);
  });

  test('notices: cancelled gets cancels of waiting and running jobs, of dependents and workflows', async ({
    store,
  }) => {
    const notify = tells('cancelled');
    const waiting = await submitOne(store, aJob({ notify }));
    await cancel(store, waiting.id);
    const running = await claimOne(store, aJob({ notify }));
    await cancel(store, running.job.id);
    assert.deepEqual(await open(store), [`cancelled ${waiting.id}`], 'it has not stopped yet');
    await report(store, running, { type: 'cancelled', error: null });
    await failOne(store, { maxAttempts: 1, notify });
    await finishOne(store, { notify });
    const parent = await submitOne(store, aJob());
    const child = await submitOne(store, after([parent], { notify }));
    await cancel(store, parent.id);
    const { workflow, step } = await submitWorkflow(store, { ...aWorkflow([aStep('a')]), notify });
    await cancel(store, step['a'] ?? 0);
    await settleDown(store);
    assert.deepEqual(await open(store), [
      `cancelled ${waiting.id}`,
      `cancelled ${running.job.id}`,
      `cancelled ${child.id}`,
      `cancelled workflow ${workflow.id}`,
    ]);
  });

  test('notices: a job that was retried, or replaced, is watched by its present list', async ({ store }) => {
    const unique = { key: 'k', while: 'pending', onConflict: 'replace' } as const;
    const replaced = await submitOne(store, aJob({ unique, notify: tells('cancelled') }));
    await submitOne(store, aJob({ unique, notify: tells('done') }));
    await cancel(store, replaced.id);
    assert.deepEqual(await open(store), []);
    await retry(store, replaced.id);
    await succeed(store, await claimOne(store));
    const again = await submitOne(store, aJob({ notify: tells('cancelled') }));
    await cancel(store, again.id);
    await retry(store, again.id);
    await cancel(store, again.id);
    assert.deepEqual(await open(store), [`done ${replaced.id}`, `cancelled ${again.id}`, `cancelled ${again.id}`]);
  });

  test('notices: an end that is reported twice, or without the lease, writes one notice', async ({
    store,
    advance,
  }) => {
    const lease = await claimOne(store, aJob({ ...onRecovery, maxAttempts: 2 }));
    await loseLeases(store, advance);
    const second = await claimOne(store);
    await succeed(store, lease);
    await succeed(store, second);
    await succeed(store, second);
    assert.deepEqual(await open(store), [`done ${lease.job.id}`]);
  });

  test('notices: an end without an attempt writes a notice', async ({ store, advance }) => {
    const job = await submitOne(store, aJob({ ...onFailure, startTimeoutMs: 1_000 }));
    await advance(2_000);
    const [late] = await store.findExpired(10, forever);
    assert.equal(late?.id, job.id);
    await decide(store, job.id, { type: 'expire' });
    assert.deepEqual(await open(store), [`failed ${job.id}`]);
  });

  test('notices: a job that fails again after a manual retry writes another notice', async ({ store }) => {
    const id = await failOne(store, onFailure);
    await retry(store, id);
    await fail(store, await claimOne(store));
    await retry(store, id);
    await succeed(store, await claimOne(store));
    assert.deepEqual(await open(store), [`failed ${id}`, `failed ${id}`]);
    const recovers = await failOne(store, onRecovery);
    await retry(store, recovers);
    await succeed(store, await claimOne(store));
    assert.deepEqual((await open(store)).slice(2), [`failed ${recovers}`, `done ${recovers}`]);
  });

  test('notices: a replaced job uses the targets of its replacement', async ({ store }) => {
    const unique = { key: 'k', while: 'active', onConflict: 'replace' } as const;
    await submitOne(store, aJob({ ...onFailure, unique }));
    const quiet = await submitOne(store, aJob({ maxAttempts: 1, unique }));
    await fail(store, await claimOne(store));
    assert.deepEqual(await open(store), []);
    await submitOne(store, aJob({ unique }));
    const loud = await submitOne(store, aJob({ ...onFailure, unique }));
    assert.notEqual(loud.id, quiet.id);
    await fail(store, await claimOne(store));
    assert.deepEqual(await open(store), [`failed ${loud.id}`]);
  });

  test('notices: a group writes one notice, its items none', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { job: onFailure, forEach: { items: [1, 2], maxParallel: null } })]),
    );
    await store.expand(10, forever);
    for (const id of await hands.take()) await hands.failed(id);
    assert.deepEqual(await open(store), [`failed ${step['each']}`]);
  });

  test('notices: a workflow writes one notice at its end, its steps none', async ({ store }) => {
    const hands = await Hands.of(store);
    const notify = tells('failed', 'recovered');
    const { workflow, step } = await submitWorkflow(
      store,
      aWorkflow([aStep('a'), aStep('b', { parents: [0] })], { notify }),
    );
    const [a, b] = [step['a'] as number, step['b'] as number];
    assert.deepEqual(workflow.notify, notify);
    await hands.failed(a);
    assert.deepEqual(await open(store), [`failed workflow ${workflow.id}`]);
    await retry(store, a);
    await hands.done(a);
    await hands.done(b);
    assert.deepEqual(await open(store), [`failed workflow ${workflow.id}`, `done workflow ${workflow.id}`]);
  });

  test('deliver: replaces the notice by its messages, once', async ({ store }) => {
    const id = await failOne(store, onFailure);
    const [notice] = await store.notices(10, forever);
    assert.ok(notice);
    const answers = await Promise.all([1, 2, 3].map(() => store.deliver(notice.id, one, forever)));
    const stored = answers.filter((answer) => answer !== undefined);
    assert.equal(stored.length, 1, 'only one of several calls delivers it');
    const [job] = stored[0] as { id: number }[];
    assert.equal((await readOne(store, job?.id as number)).queue, 'workron.notify');
    assert.deepEqual(await open(store), []);
    assert.equal((await store.list({ queue: 'workron.notify' }, { before: null, limit: 10 }, forever)).length, 1);
    assert.equal(await store.deliver(notice.id, one, forever), undefined);

    const about = await store.notifications({ jobId: id }, forever);
    assert.deepEqual(
      about.map(({ event, deliveredBy, jobId }) => ({ event, deliveredBy, jobId })),
      [{ event: 'failed', deliveredBy: job?.id, jobId: id }],
    );
    assert.deepEqual(await store.notifications({ deliveredBy: job?.id as number }, forever), about);
    assert.deepEqual(await store.notifications({ jobId: id + 1_000 }, forever), []);
  });

  test('deliver: the notice stays if a message cannot be stored', async ({ store }) => {
    await failOne(store, onFailure);
    const [notice] = await store.notices(10, forever);
    assert.ok(notice);
    const broken = { ...message(), job: aJob({ priority: 1e12 }) };
    if (store.driver === 'postgres') {
      await assert.rejects(store.deliver(notice.id, { alarm: null, messages: [message(), broken] }, forever));
      assert.equal((await open(store)).length, 1);
    }
    assert.equal((await store.deliver(notice.id, one, forever))?.length, 1);
  });

  test('deliver: a notice may have no message or several', async ({ store }) => {
    await failOne(store, onFailure);
    await failOne(store, onFailure);
    const [first, second] = await store.notices(10, forever);
    assert.deepEqual(await store.deliver(first?.id as number, { alarm: null, messages: [] }, forever), []);
    const messages = [message(), message()];
    assert.equal((await store.deliver(second?.id as number, { alarm: null, messages }, forever))?.length, 2);
    assert.deepEqual(await open(store), []);
  });

  test('deliver: a recovery is sent only after a failure, and once', async ({ store }) => {
    const sent = async (job: Partial<NewJob>, failing: boolean): Promise<number> => {
      await (failing ? failOne(store, job) : finishOne(store, job));
      const [notice] = await store.notices(10, forever);
      const alarm = { subject: `job ${job.name}`, failing };
      const messages = [message(failing ? 'failed' : 'recovered')];
      return (await store.deliver(notice?.id as number, { alarm, messages }, forever))?.length ?? -1;
    };
    assert.equal(await sent(onRecovery, false), 0, 'there was no failure before');
    assert.equal(await sent(onRecovery, true), 1);
    assert.equal(await sent(onRecovery, true), 1);
    assert.equal(await sent({ ...onRecovery, name: 'other' }, false), 0, 'the failure was of another subject');
    assert.equal(await sent(onRecovery, false), 1);
    assert.equal(await sent(onRecovery, false), 0, 'the recovery has been sent before');
  });

  test('notices: pruning a job deletes its notifications', async ({ store, advance }) => {
    const id = await failOne(store, onFailure);
    const [notice] = await store.notices(10, forever);
    const [job] = (await store.deliver(notice?.id as number, one, forever)) ?? [];
    await advance(10_000);
    await store.prune({ doneMs: 1_000, otherMs: 1_000, statsMs: 1_000 }, 100, forever);
    assert.deepEqual(await store.read([id], forever), []);
    assert.deepEqual(await store.notifications({ jobId: id }, forever), []);
    assert.deepEqual(await store.notifications({ deliveredBy: job?.id as number }, forever), []);
  });
}
