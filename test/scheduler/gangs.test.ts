/** Gangs from submission to their end, with the placer's rounds called by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer, aStep, aWorker, aWorkflow } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { type Gang, ON_MEMBER_FAILURE } from '../../src/core/gang.ts';
import type { ClaimedJob, Job } from '../../src/core/job.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import { type Change, transition } from '../../src/core/transition.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { Wake } from '../../src/ops/wake.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { grapher } from '../../src/scheduler/duties/grapher.ts';
import { placer } from '../../src/scheduler/duties/placer.ts';
import { reaper } from '../../src/scheduler/duties/reaper.ts';
import { bulkRunner } from '../../src/scheduler/jobs/bulk.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { waitsFor } from '../kit/waits-for.ts';

const LEASE_MS = 30_000;
const NO_BACKOFF = { type: 'none', baseMs: 0, factor: 1, capMs: 0, jitter: 0 } as const;

async function scene(rules: Partial<Gang> = {}) {
  const clock = new VirtualClock();
  const store = openMemory({ clock });
  const { scheduler, context } = createScheduler({
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
    metrics: new Metrics('0', 'me'),
    instanceId: 'me',
    leaseMs: LEASE_MS,
    heartbeatMs: 5_000,
  });
  const workers = [await register(), await register()];
  const size = rules.size ?? 2;
  const gang = {
    id: 'g',
    size,
    min: size,
    spread: 'spread',
    onMemberFailure: 'restart',
    timeoutMs: 60_000,
    ...rules,
  } as const;
  const members = Array.from({ length: gang.size }, (_, rank) =>
    aJob({ tags: ['gang:g'], maxAttempts: 2, backoff: NO_BACKOFF, gang: { ...gang, rank } }),
  );
  const { items } = await scheduler.submit(members, {}, signal);
  const ids = items.map(({ job }) => job.id);
  const duty = placer(context);
  let claims = 0;

  async function register(): Promise<number> {
    return (await scheduler.register(aWorker({ slots: 1, leaseMs: LEASE_MS }), signal)).id;
  }
  async function claim(workerId: number): Promise<ClaimedJob | undefined> {
    claims += 1;
    const [job] = await scheduler.claim({ workerId, limit: 1, offer: anOffer(), claimSeq: claims, waitMs: 0 }, signal);
    return job;
  }
  return {
    scheduler,
    context,
    store,
    clock,
    workers,
    ids,
    claim,
    register,
    round: () => duty.tick(signal),
    statuses: async () => (await store.read(ids, signal)).map(({ status }) => status),
    why: async () => waitsFor((await scheduler.job(ids[0] ?? 0, signal)).waiting),
    start: async () => {
      await duty.tick(signal);
      const [one = 0, two = 0] = workers;
      assert.equal(await claim(one), undefined);
      const second = await claim(two);
      const first = await claim(one);
      assert.ok(first && second);
      return [
        { jobId: first.id, attempt: first.attempt, workerId: one },
        { jobId: second.id, attempt: second.attempt, workerId: two },
      ] as const;
    },
  };
}

const DONE = { type: 'succeeded', exitCode: 0 } as const;
const FAILED = { type: 'failed', exitCode: 7, signal: null, error: 'exit 7' } as const;

test('gang: all members succeed, and nothing of it is left', async () => {
  const { scheduler, store, start, statuses, round } = await scene();
  for (const lease of await start()) {
    assert.deepEqual(await scheduler.settle([{ ...lease, outcome: DONE }], signal), ['ok']);
    assert.deepEqual(await scheduler.settle([{ ...lease, outcome: DONE }], signal), ['ok'], 'a repeated report');
    await round();
  }
  assert.deepEqual(await statuses(), ['done', 'done']);
  await round();
  assert.deepEqual(await store.places(signal), []);
});

test('gang: why tells a member that has succeeded, and one that is stopped, what it waits for', async () => {
  const { scheduler, start, round, why } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: DONE }], signal);
  assert.match(await why(), /its gang: 1 of 2 members have succeeded/);
  await scheduler.settle([{ ...second, outcome: FAILED }], signal);
  await round();
  assert.match(await why(), /its gang: the other members are being stopped/);
});

test('gang: if a member fails, the others are told to stop, and all start again', async () => {
  const { scheduler, store, start, statuses, round, workers, claim } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: FAILED }], signal);
  await round();
  const { jobId, attempt, workerId } = second;
  const orders = await scheduler.heartbeat({ workerId, leases: [{ jobId, attempt }], seenClaim: 9 }, signal);
  assert.deepEqual(orders?.cancel, [{ jobId, attempt }]);
  assert.match(waitsFor((await scheduler.job(jobId, signal)).waiting), /its gang starts again/);
  const stopped = [{ ...second, outcome: { type: 'cancelled', error: null } }] as const;
  assert.deepEqual(await scheduler.settle(stopped, signal), ['ok']);
  assert.deepEqual(await scheduler.settle(stopped, signal), ['ok'], 'a repeated report');
  assert.deepEqual(await statuses(), ['pending', 'pending']);
  await round();
  await claim(workers[0] ?? 0);
  assert.equal((await claim(workers[1] ?? 0))?.attempt, 2);
  assert.equal((await claim(workers[0] ?? 0))?.attempt, 2);
  const [one, two] = await store.read([first.jobId, jobId], signal);
  assert.deepEqual([one?.failures, two?.failures, two?.interruptions], [1, 0, 0]);
  assert.deepEqual(await scheduler.settle([{ ...second, outcome: DONE }], signal), ['lease_lost']);
});

test('gang: a success between the readings of a round stops nobody', async (t) => {
  const { scheduler, store, start, statuses, round } = await scene();
  const [first] = await start();
  const places = store.places.bind(store);
  t.mock.method(store, 'places', async () => {
    const found = await places(signal);
    t.mock.restoreAll();
    await scheduler.settle([{ ...first, outcome: DONE }], signal);
    return found;
  });
  await round();
  assert.deepEqual(await statuses(), ['blocked', 'running']);
  assert.equal((await store.gangs(['g'], signal))[0]?.stopping, false);
});

test('gang: a failure in the moment of the stop costs one of the budget', async (t) => {
  const { scheduler, context, clock, store, start, round, workers, claim, statuses } = await scene();
  const [first, second] = await start();
  const stopGang = store.stopGang.bind(store);
  t.mock.method(store, 'stopGang', async (id: string, term: number) => {
    await scheduler.settle([{ ...second, outcome: FAILED }], signal);
    return await stopGang(id, term, signal);
  });
  await scheduler.settle([{ ...first, outcome: { type: 'snoozed', delayMs: 1_000 } }], signal);
  await round();
  clock.advance(1_000);
  await context.store.promote(10, signal);
  await round();
  for (const workerId of [...workers, ...workers]) await claim(workerId);
  assert.deepEqual(await statuses(), ['running', 'running']);
  assert.equal((await store.gangs(['g'], signal))[0]?.failures, 1);
});

test('gang: a worker that is lost stops the others, and the gang waits for another worker', async () => {
  const { scheduler, context, clock, start, statuses, round, register, claim } = await scene();
  const [first, second] = await start();
  const reap = reaper(context, { everyMs: 10_000, leaseMs: LEASE_MS, forgetAfterMs: 86_400_000 });
  const lives = { workerId: second.workerId, leases: [{ jobId: second.jobId, attempt: 1 }], seenClaim: 9 };
  for (let passed = 0; passed < 8; passed += 1) {
    clock.advance(9_000);
    await scheduler.heartbeat(lives, signal);
    await reap.tick(signal);
  }
  await round();
  assert.deepEqual((await scheduler.heartbeat(lives, signal))?.cancel.length, 1);
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  assert.deepEqual(await statuses(), ['pending', 'pending']);
  const third = await register();
  await round();
  assert.equal(await claim(third), undefined);
  assert.ok(await claim(second.workerId));
  assert.ok(await claim(third));
  assert.deepEqual(await statuses(), ['running', 'running']);
  assert.equal((await scheduler.attempts(first.jobId, signal))[0]?.outcome, 'lost');
});

test('gang: a member that snoozes makes its gang wait, and nobody pays', async () => {
  const { scheduler, context, clock, store, start, statuses, round } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { type: 'snoozed', delayMs: 60_000 } }], signal);
  await round();
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  await round();
  assert.deepEqual(await statuses(), ['scheduled', 'pending']);
  assert.deepEqual(await store.places(signal), []);
  clock.advance(61_000);
  for (const { workerId } of [first, second])
    await scheduler.heartbeat({ workerId, leases: [], seenClaim: null }, signal);
  await context.store.promote(10, signal);
  await round();
  assert.equal((await store.places(signal)).length, 2);
  assert.equal((await store.gangs(['g'], signal))[0]?.failures, 0);
});

test('gang: a fatal error and the last failure of the budget end the gang; a retry starts all again', async () => {
  const { scheduler, start, statuses, round, ids } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { ...FAILED, fatal: true } }], signal);
  await round();
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  assert.deepEqual(await statuses(), ['failed', 'cancelled']);
  await round();
  await scheduler.retry(ids[1] ?? 0, signal);
  assert.deepEqual(await statuses(), ['pending', 'pending']);
});

test('gang: jobs that have its tag and are not members are left alone, and count for nothing', async () => {
  const { scheduler, store, clock, start, statuses, round, ids } = await scene();
  const { items } = await scheduler.submit([aJob({ tags: ['gang:g'] }), aJob({ tags: ['gang:g'] })], {}, signal);
  const [ended, open] = items.map(({ job }) => job.id) as [number, number];
  await scheduler.cancel(ended, { keepChildren: false }, signal);
  const [first] = ids as [number];
  await scheduler.edit(first, { runAt: clock.now() + 60_000 }, signal);
  await round();
  assert.deepEqual(await statuses(), ['scheduled', 'pending'], 'the gang is not complete, and no member has ended');
  const edited = await scheduler.edit(first, { runAt: clock.now(), tags: ['nightly'] }, signal);
  assert.deepEqual(edited.tags, ['nightly', 'gang:g']);
  await store.promote(10, signal);
  await start();
  await scheduler.cancel(first, { keepChildren: false }, signal);
  assert.equal((await store.read([open], signal))[0]?.status, 'pending');
  const { items: again } = await scheduler.rerun(first, { submittedBy: null }, signal);
  assert.deepEqual(again[0]?.job.tags, ['nightly']);
});

test('gang: with fail, the others are cancelled if a member fails', async () => {
  const { scheduler, store, start, statuses, round } = await scene({ onMemberFailure: 'fail' });
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { ...FAILED, fatal: true } }], signal);
  await round();
  const { jobId, attempt, workerId } = second;
  const orders = await scheduler.heartbeat({ workerId, leases: [{ jobId, attempt }], seenClaim: 9 }, signal);
  assert.deepEqual(orders?.cancel, [{ jobId, attempt }]);
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  assert.deepEqual(await statuses(), ['failed', 'cancelled']);
  await round();
  assert.deepEqual(await store.places(signal), []);
});

test('gang: with continue, the others go on', async () => {
  const { scheduler, start, statuses, round } = await scene({ onMemberFailure: 'continue' });
  const [first] = await start();
  await scheduler.settle([{ ...first, outcome: { ...FAILED, fatal: true } }], signal);
  await round();
  assert.deepEqual(await statuses(), ['failed', 'running']);
});

test('gang: with continue, a retried member starts when the others have ended, with its rank, and why says so', async () => {
  const { scheduler, start, statuses, round, claim, why, workers } = await scene({ onMemberFailure: 'continue' });
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { ...FAILED, fatal: true } }], signal);
  await scheduler.retry(first.jobId, signal);
  await round();
  assert.deepEqual(await statuses(), ['pending', 'running']);
  assert.match(await why(), /its gang: 1 of 2 members are in an earlier run; it starts when they have ended/);
  await scheduler.settle([{ ...second, outcome: DONE }], signal);
  assert.match(await why(), /in an earlier run/);
  for (const workerId of workers) await scheduler.drainWorker(workerId, signal);
  await round();
  assert.match(await why(), /1 free slot \(1 of the 2 members of its gang\): all online workers together have fewer/);
  for (const workerId of workers) await scheduler.undrainWorker(workerId, signal);
  await round();
  const again = (await claim(workers[0] ?? 0)) ?? (await claim(workers[1] ?? 0));
  assert.deepEqual([again?.id, again?.gang?.rank, again?.gangContext?.hosts.length], [first.jobId, 0, 2]);
  assert.deepEqual(await statuses(), ['running', 'done']);
});

test('gang: with min, it starts with those that have places, and why tells the others', async () => {
  const { scheduler, start, statuses, round, ids, why } = await scene({ size: 3, min: 2 });
  const leases = await start();
  const last = async () => waitsFor((await scheduler.job(ids[2] ?? 0, signal)).waiting);
  assert.match(await last(), /its gang, which has started with 2 of 3 members: this one had no place/);
  for (const lease of leases) await scheduler.settle([{ ...lease, outcome: DONE }], signal);
  assert.match(await why(), /2 of 2 members have succeeded/);
  await round();
  assert.deepEqual(await statuses(), ['done', 'done', 'skipped']);
  await assert.rejects(
    scheduler.retry(ids[2] ?? 0, signal),
    /Cannot retry job 3: it is skipped: its gang has succeeded/,
  );
  const large = await scene({ size: 9, min: 3 });
  await large.round();
  await large.scheduler.setQueue('default', { maxRunning: 2 }, signal);
  assert.match(
    await large.why(),
    /a higher max_running of queue default: it is 2, and its gang starts with at least 3/,
  );
  await large.scheduler.setQueue('default', { maxRunning: null }, signal);
  assert.match(
    await large.why(),
    /3 to 9 free slots \(gang\): all online workers together have fewer, even when idle: 2$/,
  );
  await large.scheduler.setQueue('default', { rate: { limit: 1, perMs: 1_000, burst: 1 } }, signal);
  assert.match(
    await large.why(),
    /a higher rate of queue default: it lets 2 start at once, and its gang starts with at least 3/,
  );
});

test('gang: a retry is refused while another member is still being stopped, one by one and in bulk', async () => {
  const { scheduler, context, start, statuses, round, ids } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { ...FAILED, fatal: true } }], signal);
  await assert.rejects(scheduler.retry(first.jobId, signal), /Cannot retry job 1 yet: job 2 of its gang is running/);
  const bulk = bulkRunner(context, new Wake());
  await scheduler.bulk({ action: 'retry', filter: { statuses: ['failed'] }, dryRun: false, askedBy: null }, signal);
  await bulk.tick(signal);
  assert.deepEqual(await statuses(), ['failed', 'running']);
  await round();
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  const { operation } = await scheduler.bulk(
    { action: 'retry', filter: { ids: [ids[0] ?? 0] }, dryRun: false, askedBy: null },
    signal,
  );
  await bulk.tick(signal);
  assert.deepEqual(await statuses(), ['pending', 'pending'], 'all members are retried');
  assert.equal((await scheduler.operation(operation?.id ?? 0, signal)).changed, 1);
});

test('gang: a retry of its step, and of the workflow, is refused while a member is still being stopped', async () => {
  const { scheduler, context, store, start, round, ids } = await scene();
  await scheduler.cancel(ids[0] ?? 0, { keepChildren: false }, signal);
  const [gone] = await store.read(ids, signal);
  const job = aJob({ maxAttempts: 2, backoff: NO_BACKOFF, gang: gone?.gang ?? null });
  const steps = [aStep('train', { job, forEach: { items: [0, 1], maxParallel: null } })];
  const { workflow } = await scheduler.submitWorkflow(aWorkflow(steps), {}, signal);
  await grapher(context, new Wake()).tick(signal);
  const [first, second] = await start();
  const step = (await store.read([first.jobId], signal))[0]?.groupId ?? 0;
  const members = async () =>
    (await store.read([first.jobId, second.jobId], signal)).map(({ status }) => status).sort();
  await scheduler.settle([{ ...first, outcome: { ...FAILED, fatal: true } }], signal);
  const refused = /Cannot retry job \d+ yet: job \d+ of its gang is running, and is being stopped/;
  await assert.rejects(scheduler.retryWorkflow(workflow.id, signal), refused);
  await assert.rejects(scheduler.retry(step, signal), refused);
  assert.deepEqual(await members(), ['failed', 'running']);
  await round();
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  await scheduler.retryWorkflow(workflow.id, signal);
  assert.deepEqual(await members(), ['pending', 'pending']);
  await round();
  assert.equal((await start()).length, 2);
});

test('gang: a member is not retried if another one is done, as its gang starts with all', async () => {
  const { scheduler, store, start, statuses, ids } = await scene();
  for (const lease of await start()) await scheduler.settle([{ ...lease, outcome: DONE }], signal);
  // The first is done, and the second is cancelled in the same moment.
  const [first] = await store.read(ids, signal);
  const success = { exitCode: 0, result: null };
  const change = first && transition(first, { type: 'finish', success }, 0.5);
  await store.applyChanges(change === undefined ? [] : [change], signal);
  await scheduler.cancel(ids[1] ?? 0, { keepChildren: false }, signal);
  assert.deepEqual(await statuses(), ['done', 'cancelled']);
  await assert.rejects(
    scheduler.retry(ids[1] ?? 0, signal),
    /Cannot retry job 2: only 1 of its gang's 2 members can be retried, and it starts with all; submit the gang again/,
  );
});

for (const onMemberFailure of ON_MEMBER_FAILURE) {
  test(`gang: with ${onMemberFailure}, all are cancelled if one member has ended before the gang got places`, async () => {
    const { store, ids, statuses, round, why } = await scene({ onMemberFailure });
    const [job] = await store.read(ids.slice(1), signal);
    // The process that cancels a gang may end after the first member.
    await store.applyChanges([transition(job as Job, { type: 'cancel' }, 0.5) as Change], signal);
    assert.deepEqual(await statuses(), ['pending', 'cancelled']);
    assert.equal(
      await why(),
      'its gang: 1 of 2 members wait; another one has ended, so this one is about to be cancelled',
    );
    await round();
    assert.deepEqual(await statuses(), ['cancelled', 'cancelled']);
  });
}

test('gang: with fail, the gang ends if the worker of a member shuts down', async () => {
  const { scheduler, store, start, round, statuses } = await scene({ onMemberFailure: 'fail' });
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { type: 'interrupted', error: 'drained' } }], signal);
  await round();
  assert.deepEqual(await statuses(), ['cancelled', 'running']);
  assert.notEqual((await store.read([second.jobId], signal))[0]?.cancelRequestedAt, null);
});

test('gang: places are chosen again if a worker vanishes before the start, or does not accept in time', async () => {
  const { scheduler, store, clock, workers, round, claim, why, register } = await scene();
  await round();
  const [one = 0, two = 0] = workers;
  assert.equal(await claim(one), undefined);
  assert.match(await why(), /1 of 2 are held; worker 2 \(worker\) has no room yet/);
  await scheduler.leave(two, signal);
  const three = await register();
  await round();
  const sites = (await store.places(signal)).map(({ workerId }) => workerId ?? 0);
  assert.deepEqual(
    sites.toSorted((a, b) => a - b),
    [one, three],
  );
  clock.advance(61_000);
  for (const workerId of [one, three]) await scheduler.heartbeat({ workerId, leases: [], seenClaim: null }, signal);
  await round();
  assert.ok((await store.places(signal)).every(({ until, accepted }) => !accepted && until > clock.now()));
});

test('gang: why says what it waits for, and that all workers together are too small', async () => {
  const { scheduler, why, ids, round, statuses } = await scene({ size: 3 });
  await round();
  assert.match(await why(), /3 free slots \(gang\): all online workers together have fewer, even when idle/);
  await scheduler.cancel(ids[1] ?? 0, { keepChildren: false }, signal);
  assert.deepEqual(await statuses(), ['cancelled', 'cancelled', 'cancelled']);
  await scheduler.retry(ids[2] ?? 0, signal);
  assert.deepEqual(await statuses(), ['pending', 'pending', 'pending']);
});

test('gang: why tells of the max_running that its gang waits for, and that is kept from single jobs', async () => {
  const { scheduler, store, workers, claim, round, why } = await scene();
  await store.setQueue('default', { maxRunning: 2 }, signal);
  await round();
  const { items } = await scheduler.submit([aJob()], {}, signal);
  const single = async () => waitsFor((await scheduler.job(items[0]?.job.id ?? 0, signal)).waiting);
  assert.equal(
    await single(),
    'a place in queue default: 0 of 2 run (max_running), and 2 are kept for gangs, 1st in line',
  );
  await store.setQueue('default', { maxRunning: 1 }, signal);
  for (const workerId of workers) assert.equal(await claim(workerId), undefined);
  assert.equal(await why(), 'places in queue default: 0 of 1 run (max_running), and its gang needs 2 at once');
});

test('gang: why tells of the rate that its gang waits for, and that is kept from single jobs', async () => {
  const { scheduler, store, clock, workers, claim, register, round, why } = await scene();
  await store.setQueue('default', { rate: { limit: 2, perMs: 60_000, burst: 0 } }, signal);
  const { items } = await scheduler.submit([aJob(), aJob()], {}, signal);
  assert.equal((await claim(await register()))?.id, items[0]?.job.id);
  const opens = new Date(clock.now() + 60_000).toISOString();
  const short = 'the rate of queue default: 1 may start now';
  const expected = `${short}, and its gang needs 2 at once, expected to start by ${opens}`;
  assert.equal(await why(), expected);
  await round();
  for (const workerId of workers) assert.equal(await claim(workerId), undefined);
  assert.equal(await why(), expected);
  const single = async () => waitsFor((await scheduler.job(items[1]?.job.id ?? 0, signal)).waiting);
  assert.equal(await single(), `${short}, which is kept for gangs; 1st in line`);
  await store.setQueue('default', { rate: { limit: 1, perMs: 60_000, burst: 0 } }, signal);
  const last = new Date(clock.now() + 180_000).toISOString();
  assert.equal(
    await single(),
    `the rate of queue default: 1 of 1 have started within 60 s, it opens at ${opens}, the next 2 are kept for gangs; 1st in line, expected to start at ${last}`,
  );
});
