import assert from 'node:assert/strict';
import type { NewJob } from '../src/core/job.ts';
import type { Delivery } from '../src/core/notice.ts';
import type { Notify, NotifyEvent } from '../src/core/notify.ts';
import type { Store } from '../src/store/store.ts';
import { aJob, aStep, aWorkflow } from './kit/builders.ts';
import { Hands, submitWorkflow } from './kit/graph.ts';
import {
  cancel,
  claimOne,
  decide,
  fail,
  forever,
  loseLeases,
  readOne,
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

/** What there is to tell, as `failed 12`. */
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

  test('notices: a job that asks for it leaves one when it has failed for good, and not before', async ({
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

  test('notices: one that is postponed makes room for the others, and comes back', async ({ store, advance }) => {
    for (let count = 0; count < 3; count += 1) await failOne(store, onFailure);
    const [first, second, third] = await store.notices(10, forever);
    assert.ok(first && second && third);
    await store.postponeNotice(first.id, 5_000, forever);
    await store.postponeNotice(second.id, 5_000, forever);
    assert.deepEqual(await store.notices(1, forever), [third]);
    await advance(2_500);
    await store.postponeNotice(second.id, 10_000, forever);
    await advance(2_500);
    assert.deepEqual(await store.notices(10, forever), [third, first], 'as it was: since when it was due is not moved');
    await advance(7_500);
    assert.deepEqual(await store.notices(10, forever), [third, first, second]);
    await store.deliver(second.id, one, forever);
    await store.postponeNotice(second.id, 0, forever);
    assert.deepEqual(await store.notices(10, forever), [third, first], 'one that is gone stays so');
  });

  test('notices: nothing is left by jobs that ask for nothing, nor by ends that nobody asked for', async ({
    store,
  }) => {
    await failOne(store, { maxAttempts: 1 });
    await finishOne(store, onFailure);
    await finishOne(store, {});
    const waiting = await submitOne(store, aJob(onRecovery));
    await cancel(store, waiting.id);
    await failOne(store, { maxAttempts: 1, notify: tells('missed', 'late') });
    assert.deepEqual(await open(store), []);
  });

  test('notices: who wants to hear of recoveries needs both ends', async ({ store }) => {
    const failed = await failOne(store, onRecovery);
    const done = await finishOne(store, onRecovery);
    assert.deepEqual(await open(store), [`failed ${failed}`, `done ${done}`]);
  });

  test('notices: an end that is reported twice, or by one who lost the lease, leaves one', async ({
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

  test('notices: an end without an attempt is one too', async ({ store, advance }) => {
    const job = await submitOne(store, aJob({ ...onFailure, startTimeoutMs: 1_000 }));
    await advance(2_000);
    const [late] = await store.findExpired(10, forever);
    assert.equal(late?.id, job.id);
    await decide(store, job.id, { type: 'expire' });
    assert.deepEqual(await open(store), [`failed ${job.id}`]);
  });

  test('notices: a job that is retried by a person and fails again leaves another', async ({ store }) => {
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

  test('notices: a job that was replaced tells whom its replacement says', async ({ store }) => {
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

  test('notices: a group leaves one, its items none', async ({ store }) => {
    const hands = await Hands.of(store);
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { job: onFailure, forEach: { items: [1, 2], maxParallel: null } })]),
    );
    await store.expand(10, forever);
    for (const id of await hands.take()) await hands.failed(id);
    assert.deepEqual(await open(store), [`failed ${step['each']}`]);
  });

  test('notices: a workflow leaves one when it has ended, not each of its steps', async ({ store }) => {
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

  test('deliver: the notice goes and its messages come, once', async ({ store }) => {
    const id = await failOne(store, onFailure);
    const [notice] = await store.notices(10, forever);
    assert.ok(notice);
    const answers = await Promise.all([1, 2, 3].map(() => store.deliver(notice.id, one, forever)));
    const stored = answers.filter((answer) => answer !== undefined);
    assert.equal(stored.length, 1, 'only one of several delivers it');
    const [job] = stored[0] as { id: number }[];
    assert.equal((await readOne(store, job?.id as number)).queue, 'workron.notify');
    assert.deepEqual(await open(store), []);
    assert.equal((await store.list({ queue: 'workron.notify' }, { before: null, limit: 10 }, forever)).length, 1);
    assert.equal(await store.deliver(notice.id, one, forever), undefined);

    const about = await store.notifications({ jobId: id }, forever);
    assert.deepEqual(
      about.map(({ event, carriedBy, jobId }) => ({ event, carriedBy, jobId })),
      [{ event: 'failed', carriedBy: job?.id, jobId: id }],
    );
    assert.deepEqual(await store.notifications({ carriedBy: job?.id as number }, forever), about);
    assert.deepEqual(await store.notifications({ jobId: id + 1_000 }, forever), []);
  });

  test('deliver: a message that cannot be stored leaves the notice where it was', async ({ store }) => {
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

  test('deliver: nobody to tell is fine, and so are several', async ({ store }) => {
    await failOne(store, onFailure);
    await failOne(store, onFailure);
    const [first, second] = await store.notices(10, forever);
    assert.deepEqual(await store.deliver(first?.id as number, { alarm: null, messages: [] }, forever), []);
    const messages = [message(), message()];
    assert.equal((await store.deliver(second?.id as number, { alarm: null, messages }, forever))?.length, 2);
    assert.deepEqual(await open(store), []);
  });

  test('deliver: a recovery is told only where something had failed, and once', async ({ store }) => {
    const sent = async (job: Partial<NewJob>, failing: boolean): Promise<number> => {
      await (failing ? failOne(store, job) : finishOne(store, job));
      const [notice] = await store.notices(10, forever);
      const alarm = { subject: `job ${job.name}`, failing };
      const messages = [message(failing ? 'failed' : 'recovered')];
      return (await store.deliver(notice?.id as number, { alarm, messages }, forever))?.length ?? -1;
    };
    assert.equal(await sent(onRecovery, false), 0, 'nothing had failed');
    assert.equal(await sent(onRecovery, true), 1);
    assert.equal(await sent(onRecovery, true), 1);
    assert.equal(await sent({ ...onRecovery, name: 'other' }, false), 0, 'another subject');
    assert.equal(await sent(onRecovery, false), 1);
    assert.equal(await sent(onRecovery, false), 0, 'it had recovered before');
  });

  test('notices: what is deleted takes along what was sent about it', async ({ store, advance }) => {
    const id = await failOne(store, onFailure);
    const [notice] = await store.notices(10, forever);
    const [job] = (await store.deliver(notice?.id as number, one, forever)) ?? [];
    await advance(10_000);
    await store.prune({ doneMs: 1_000, otherMs: 1_000, statsMs: 1_000 }, 100, forever);
    assert.deepEqual(await store.read([id], forever), []);
    assert.deepEqual(await store.notifications({ jobId: id }, forever), []);
    assert.deepEqual(await store.notifications({ carriedBy: job?.id as number }, forever), []);
  });
}
