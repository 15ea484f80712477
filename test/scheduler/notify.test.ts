/** Notifications: from an end to the jobs that deliver its messages, on the memory store. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { aJob, aStep, aWorkflow } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { Hands } from '../../contract/kit/graph.ts';
import { aSchedule, PERIOD } from '../../contract/kit/schedules.ts';
import { cancel, claimOne, forever, succeed } from '../../contract/kit/steps.ts';
import type { Job, NewJob } from '../../src/core/job.ts';
import type { Notify, NotifyEvent, NotifyTarget } from '../../src/core/notify.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { notifier } from '../../src/scheduler/duties/notifier.ts';
import type { NotifyContext } from '../../src/scheduler/notify/targets.ts';
import { openMemory } from '../../src/store/memory/open.ts';

const HOOK = 'https://example.com/hook';
const entry = (target: NotifyTarget, ...on: NotifyEvent[]): Notify => ({ on, target, lateAfterMs: 60_000 });
const hook = (...on: NotifyEvent[]) => entry({ type: 'webhook', url: HOOK }, ...on);
const command = (...on: NotifyEvent[]) => entry({ type: 'command', command: 'mail' }, ...on);

async function scene(notify: Partial<NotifyContext> = {}) {
  const clock = new VirtualClock();
  const store = openMemory({ clock });
  /** How long notices that could not be told were postponed. */
  const errors: number[] = [];
  const { scheduler, context } = createScheduler({
    store,
    clock,
    random: () => 0.5,
    log: { ...silentLog, error: (fields) => errors.push((fields as { retry_in_ms: number }).retry_in_ms) },
    metrics: new Metrics('0', 'test'),
    instanceId: 'test',
    leaseMs: 30_000,
    heartbeatMs: 5_000,
    notify: { list: [], secret: null, publicUrl: null, ...notify },
  });
  const hands = await Hands.of(store);
  const loop = notifier(context);
  const known = new Set<number>();
  return {
    clock,
    store,
    scheduler,
    submit: async (job: Partial<NewJob>): Promise<Job> => {
      const { items } = await scheduler.submit([aJob(job)], {}, forever);
      return items[0]?.job as Job;
    },
    hands,
    errors,
    /** What each of so many rounds asks for: the next at once, or in its own time. */
    rounds: async (count: number): Promise<(number | undefined)[]> => {
      const answers: (number | undefined)[] = [];
      for (let round = 0; round < count; round += 1) answers.push(await loop.tick(forever));
      return answers;
    },
    /** Messages that came since the last call, oldest first. */
    messages: async (): Promise<Job[]> => {
      await loop.tick(forever);
      const all = await store.list({ queue: 'workron.notify' }, { before: null, limit: 100 }, forever);
      const fresh = all.filter(({ id }) => !known.has(id)).reverse();
      for (const { id } of fresh) known.add(id);
      return fresh;
    },
  };
}

const bodyOf = (job: Job | undefined) => JSON.parse((job as Job & { input: { body: string } }).input.body);

test('notify: every target that selects failures is notified, with the details of the failure', async () => {
  const { submit, hands, messages, scheduler } = await scene({ secret: 'hush', publicUrl: 'https://jobs.example.com' });
  const job = await submit({ name: 'nightly', notify: [hook('failed'), command('failed', 'late'), hook('recovered')] });
  await hands.failed(job);
  const [first, second, ...more] = await messages();
  assert.deepEqual(more, []);

  const { url, body, delivery, timestamp, signature } = (first as Job).input as Record<string, string>;
  assert.deepEqual([first?.handler, url], ['workron.webhook', HOOK]);
  assert.equal(
    signature,
    `sha256=${createHmac('sha256', 'hush').update(`${timestamp}.${delivery}.${body}`).digest('hex')}`,
  );
  assert.match(delivery as string, /^\d+\.failed$/);
  assert.equal(timestamp, String(Math.floor(Date.parse(bodyOf(first).at) / 1_000)));
  const { event, text, job: about, links } = bodyOf(first);
  assert.deepEqual([event, text], ['failed', `nightly (job ${job.id}) failed: exit 7`]);
  assert.deepEqual([about.id, about.status, about.reason, about.error], [String(job.id), 'failed', 'fatal', 'exit 7']);
  assert.equal(links.job, `https://jobs.example.com/jobs/${job.id}`);

  assert.equal(second?.command, 'mail');
  assert.equal(second?.env['WORKRON_NOTIFY_EVENT'], 'failed');
  assert.equal(second?.env['WORKRON_NOTIFY_JOB_ID'], String(job.id));
  assert.equal(second?.env['WORKRON_NOTIFY_ERROR'], 'exit 7');
  assert.deepEqual(JSON.parse(second?.env['WORKRON_NOTIFY_JSON'] as string), bodyOf(first));

  const view = await scheduler.job(job.id, forever);
  assert.deepEqual(
    view.notifications.map(({ event: told, deliveredBy }) => [told, deliveredBy]),
    [first, second].map((message) => ['failed', message?.id]),
  );
  assert.equal((await scheduler.job(first?.id as number, forever)).notifies?.jobId, job.id);
});

test('notify: a success without an earlier failure is not notified, a recovery is notified once', async () => {
  const { submit, hands, messages } = await scene();
  const run = async (end: 'done' | 'failed', name: string | null = 'backup') => {
    await hands[end](await submit({ name, notify: [hook('recovered')] }));
    return (await messages()).map((message) => bodyOf(message).event);
  };
  assert.deepEqual(await run('done'), []);
  assert.deepEqual(await run('failed'), []);
  assert.deepEqual(await run('done', 'other'), []);
  assert.deepEqual(await run('done'), ['recovered']);
  assert.deepEqual(await run('done'), []);
  assert.deepEqual(await run('failed', null), []);
  assert.deepEqual(await run('done', null), [], 'without a name nothing can recover');
});

test('notify: done, cancelled and slow are notified to those that ask for them, beside a recovery', async () => {
  const { submit, hands, messages, clock, store } = await scene();
  const notify = [hook('recovered'), hook('done', 'cancelled'), { ...hook('slow'), slowAfterMs: 60_000 }];
  const texts = async () => (await messages()).map((message) => [bodyOf(message).event, bodyOf(message).text]);

  const failed = await submit({ name: 'etl', notify });
  await hands.failed(failed);
  assert.deepEqual(await texts(), []);
  const long = await submit({ name: 'etl', notify });
  const lease = await claimOne(store);
  clock.advance(61_000);
  await succeed(store, lease);
  assert.deepEqual(await texts(), [
    ['recovered', `etl (job ${long.id}) succeeded again`],
    ['done', `etl (job ${long.id}) is done`],
    ['slow', `etl (job ${long.id}) took 1m1s`],
  ]);
  const short = await submit({ notify });
  await hands.done(short);
  assert.deepEqual(await texts(), [['done', `job ${short.id} is done`]]);
  const stopped = await submit({ notify });
  await cancel(store, stopped.id);
  assert.deepEqual(await texts(), [['cancelled', `job ${stopped.id} was cancelled`]]);
});

test('notify: the installation is notified about all jobs and workflows, but not about steps or deliveries', async () => {
  const installation = { list: [hook('failed')] };
  const { scheduler, submit, hands, messages, store } = await scene(installation);
  const job = await submit({});
  assert.deepEqual(
    (await scheduler.job(job.id, forever)).notify.map(({ target }) => target.type),
    ['installation'],
  );
  await hands.failed(job);
  const [message, ...more] = await messages();
  assert.deepEqual([more.length, bodyOf(message).job.id], [0, String(job.id)]);

  const { workflow } = await scheduler.submitWorkflow(aWorkflow([aStep('a'), aStep('b')]), {}, forever);
  for (const { job: step } of await store.steps(workflow.id, null, forever)) await hands.failed(step);
  const [told, ...others] = await messages();
  assert.deepEqual([others.length, bodyOf(told).workflow.id], [0, String(workflow.id)]);
  assert.equal(bodyOf(told).text, `workflow workflow (${workflow.id}) failed`);

  const direct = await submit({ queue: 'workron.notify', command: 'false' });
  await hands.failed(direct);
  assert.deepEqual(
    (await messages()).filter(({ id }) => id !== direct.id),
    [],
  );
});

test('notify: notices that fail do not hold up others, are retried with a delay, and are sent once fixed', async () => {
  const { clock, store, submit, hands, messages, rounds, errors } = await scene();
  // What the store refuses: more than one round reads at a time.
  const refused = new Set<number>();
  const deliver = store.deliver.bind(store);
  store.deliver = async (id, ...rest) => {
    if (refused.has(id)) throw new Error('refused');
    return await deliver(id, ...rest);
  };
  for (let count = 0; count < 130; count += 1) await hands.failed(await submit({ notify: [hook('failed')] }));
  for (const { id } of await store.notices(1_000, forever)) refused.add(id);
  const fine = await submit({ name: 'fine', notify: [hook('failed')] });
  await hands.failed(fine);
  // The first round reads nothing but what is refused, and asks for the next at once; that one has room to spare.
  assert.deepEqual(await rounds(2), [0, undefined]);
  const [told, ...more] = await messages();
  assert.deepEqual([bodyOf(told).job.id, more], [String(fine.id), []]);
  assert.deepEqual(errors, Array(130).fill(5_000));
  assert.deepEqual(await store.notices(1_000, forever), [], 'nothing is asked for in vain');

  const waits: (number | undefined)[] = [];
  for (const wait of [5_000, 5_000, 10_000]) {
    clock.advance(wait - 1);
    assert.deepEqual(await store.notices(1_000, forever), []);
    clock.advance(1);
    await rounds(2);
    waits.push(errors.at(-1));
  }
  assert.deepEqual(waits, [5_000, 10_000, 20_000], 'ever longer');
  refused.clear();
  clock.advance(20_000);
  await rounds(2);
  assert.deepEqual(await store.notices(1_000, forever), []);
  const all = await store.list({ queue: 'workron.notify' }, { before: null, limit: 1_000 }, forever);
  assert.equal(all.length, 131);
});

test('notify: a job that is gone when its turn comes leaves nothing behind', async () => {
  const { store, submit, hands, messages } = await scene();
  await hands.failed(await submit({ notify: [hook('failed')] }));
  await store.prune({ doneMs: -1, otherMs: -1, statsMs: 0 }, 100, forever);
  assert.deepEqual(await messages(), []);
  assert.deepEqual(await store.notices(10, forever), []);
});

test('notify: missed ticks are notified to the targets of the schedule and of the installation', async () => {
  const { store, clock, messages } = await scene({ list: [command('missed')] });
  const anchor = clock.now();
  const schedule = aSchedule({ name: 'nightly', anchor, notify: [hook('missed'), hook('failed')] });
  await store.createSchedule(schedule, forever);
  clock.advance(PERIOD * 20);
  await store.tick({ limit: 100 }, forever);
  clock.advance(5_000);
  const [first, second, ...more] = await messages();
  assert.deepEqual([more, second?.command], [[], 'mail']);
  const { event, text, schedule: about, links } = bodyOf(first);
  const at = new Date(anchor + PERIOD).toISOString();
  assert.deepEqual(
    [event, about.name, about.scheduled_for, links.schedule],
    ['missed', 'nightly', at, '/schedules/nightly'],
  );
  assert.match(text, /^schedule nightly missed \d+ runs, first at /);
  assert.equal(second?.env['WORKRON_NOTIFY_SCHEDULED_FOR'], at);
});

test('notify: a run is late if it has not started in time, waiting, running or ended', async () => {
  const { store, clock, hands, messages } = await scene();
  const notify = [hook('late')];
  await store.createSchedule(aSchedule({ anchor: clock.now(), notify, overlap: 'allow' }), forever);
  const due = async () => {
    clock.advance(PERIOD);
    const { ticks } = await store.tick({ limit: 10 }, forever);
    return ticks[0]?.jobId as number;
  };
  const inTime = await due();
  await hands.lease(inTime);
  clock.advance(61_000);
  assert.deepEqual(await messages(), [], 'it started in time');
  const waiting = await due();
  clock.advance(61_000);
  const [late, ...more] = await messages();
  assert.deepEqual([more, bodyOf(late).event, bodyOf(late).job.id], [[], 'late', String(waiting)]);
  assert.equal(bodyOf(late).job.schedule, 'nightly');
  clock.advance(61_000);
  assert.deepEqual(await messages(), [], 'once');
});

test('notify: runs of one schedule and key recover together, whatever their job is called', async () => {
  const { store, clock, hands, messages } = await scene();
  const notify = [hook('recovered')];
  await store.createSchedule(
    aSchedule({ anchor: clock.now(), notify, overlap: 'allow', forEach: ['a', 'b'] }),
    forever,
  );
  const ends = async (a: 'done' | 'failed', b: 'done' | 'failed') => {
    clock.advance(PERIOD);
    const { ticks } = await store.tick({ limit: 10 }, forever);
    for (const { key, jobId } of ticks) await hands[key === 'a' ? a : b](jobId as number);
    return (await messages()).map((message) => bodyOf(message).job.key);
  };
  assert.deepEqual(await ends('failed', 'done'), []);
  assert.deepEqual(await ends('done', 'done'), ['a']);
  assert.deepEqual(await ends('done', 'failed'), []);
});
