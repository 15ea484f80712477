/** The use cases and duties, on the memory store with a clock that the test moves. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { WorkronError } from '../../src/core/error.ts';
import { DEFAULT_SPEC, type NewJob } from '../../src/core/job.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import type { NewWorker } from '../../src/core/worker.ts';
import { silentLog } from '../../src/ops/log.ts';
import { type Loop, runLoop } from '../../src/ops/loop.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { Wake } from '../../src/ops/wake.ts';
import { createScheduler, type SchedulerParts } from '../../src/scheduler/create-scheduler.ts';
import { runDuties } from '../../src/scheduler/duties/duties.ts';
import { expirer, promoter } from '../../src/scheduler/duties/promoter.ts';
import { lockWatcher, reaper, reclaimFromPreviousRun } from '../../src/scheduler/duties/reaper.ts';
import { bulkRunner } from '../../src/scheduler/jobs/bulk.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { waitsFor } from '../kit/waits-for.ts';

const LEASE = 30_000;

function command(more: Partial<NewJob> = {}): NewJob {
  return { ...DEFAULT_SPEC, command: 'true', runAt: null, delayMs: null, unique: null, dependsOn: [], ...more };
}

function worker(more: Partial<NewWorker> = {}): NewWorker {
  return {
    name: 'w',
    attachment: 'remote',
    instanceId: 'elsewhere',
    host: 'h',
    pid: 1,
    address: null,
    registeredBy: null,
    slots: 10,
    queues: null,
    commands: true,
    handlers: [],
    tags: [],
    resources: {},
    leaseMs: LEASE,
    version: '0',
    ...more,
  };
}

interface Scene extends SchedulerParts {
  clock: VirtualClock;
  store: Store;
  /** Registers a worker, claims one job and returns the lease. */
  claimOne: () => Promise<{ jobId: number; attempt: number; workerId: number }>;
}

function scene(wrap: (store: Store) => Store = (store) => store): Scene {
  const clock = new VirtualClock();
  const store = wrap(openMemory({ clock }));
  const parts = createScheduler({
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
    metrics: new Metrics('0', 'me'),
    instanceId: 'me',
    leaseMs: LEASE,
    heartbeatMs: 5_000,
  });
  return {
    ...parts,
    clock,
    store,
    claimOne: async () => {
      const { id: workerId } = await parts.scheduler.register(worker(), signal);
      const offer = { queues: null, commands: true, handlers: [], tags: [], free: {} };
      const [job] = await parts.scheduler.claim({ workerId, limit: 1, offer, claimSeq: 1, waitMs: 0 }, signal);
      assert.ok(job);
      return { jobId: job.id, attempt: job.attempt, workerId };
    },
  };
}

const FAILED: Outcome = { type: 'failed', exitCode: 7, signal: null, error: 'exit 7' };

/** A scheduler whose store takes a while, and how many jobs each insert had. */
function slowInserts(): Scene & { sizes: number[] } {
  const sizes: number[] = [];
  const slow = scene((store) => ({
    ...store,
    insert: async (jobs, options, abort) => {
      sizes.push(jobs.length);
      await setTimeout(5);
      return store.insert(jobs, options, abort);
    },
  }));
  return { ...slow, sizes };
}

test('submit: what arrives while a call is in flight goes together into the next', async () => {
  const { scheduler, sizes } = slowInserts();
  const first = scheduler.submit([command({ name: 'first' })], {}, signal);
  while (sizes.length === 0) await setImmediate();
  const answers = await Promise.all(
    Array.from({ length: 49 }, (_, index) => scheduler.submit([command({ name: `n${index}` })], {}, signal)),
  );
  assert.equal((await first).items[0]?.job.name, 'first');
  assert.deepEqual(sizes, [1, 49]);
  answers.forEach((answer, index) => assert.equal(answer.items[0]?.job.name, `n${index}`));
});

test('submit: callers that are answered together and submit again share the next transaction', async () => {
  const { scheduler, sizes } = slowInserts();
  const submitter = async () => {
    for (let round = 0; round < 3; round += 1) await scheduler.submit([command()], {}, signal);
  };
  await Promise.all(Array.from({ length: 50 }, submitter));
  assert.deepEqual(sizes, [50, 50, 50]);
});

test('submit: one bad row does not fail the batch it happens to be in', async () => {
  const { scheduler } = scene((store) => ({
    ...store,
    insert: async (jobs, options, abort) => {
      await setImmediate();
      if (jobs.some(({ name }) => name === 'bad')) throw new WorkronError('bad_request', 'bad row');
      return store.insert(jobs, options, abort);
    },
  }));
  const answers = await Promise.allSettled(
    ['a', 'b', 'bad', 'c', 'd'].map((name) => scheduler.submit([command({ name })], {}, signal)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
});

test('submit: is answered only after the store has it', async () => {
  const stored = Promise.withResolvers<void>();
  const { scheduler } = scene((store) => ({
    ...store,
    insert: async (jobs, options, abort) => {
      await stored.promise;
      return store.insert(jobs, options, abort);
    },
  }));
  let answered = false;
  const submitting = scheduler.submit([command()], {}, signal).then(() => (answered = true));
  await setImmediate();
  assert.equal(answered, false);
  stored.resolve();
  await submitting;
});

test('settle: the same report again gets the first answer, another one is refused', async () => {
  const { scheduler, claimOne } = scene();
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const report = (outcome: Outcome) => scheduler.settle([{ ...lease, outcome }], signal);
  assert.deepEqual(await report(FAILED), ['ok']);
  assert.deepEqual(await report(FAILED), ['ok']);
  assert.deepEqual(await report({ ...FAILED, exitCode: 8 }), ['lease_lost']);
  assert.deepEqual(await report({ type: 'succeeded', exitCode: 0 }), ['lease_lost']);
  const job = await scheduler.job(lease.jobId, signal);
  assert.deepEqual([job.status, job.failures, job.attempt], ['scheduled', 1, 1]);
});

test('settle: a batch of successes, failures and strangers is answered one by one', async () => {
  const { scheduler, claimOne } = scene();
  await scheduler.submit([command(), command(), command()], {}, signal);
  const a = await claimOne();
  const b = await claimOne();
  const answers = await scheduler.settle(
    [
      { ...a, outcome: { type: 'succeeded', exitCode: 0 } },
      { ...b, attempt: 7, outcome: FAILED },
      { ...b, outcome: FAILED },
      { jobId: 999, attempt: 1, workerId: 1, outcome: FAILED },
    ],
    signal,
  );
  assert.deepEqual(answers, ['ok', 'lease_lost', 'ok', 'lease_lost']);
});

test('cancel: a running job is asked to stop, and from then on only done or cancelled can follow', async () => {
  const { scheduler, claimOne } = scene();
  await scheduler.submit([command(), command()], {}, signal);
  const failing = await claimOne();
  const finishing = await claimOne();
  for (const { jobId } of [failing, finishing]) {
    const job = await scheduler.cancel(jobId, { keepChildren: false }, signal);
    assert.equal(job.status, 'running');
    assert.notEqual(job.cancelRequestedAt, null);
    await scheduler.cancel(jobId, { keepChildren: false }, signal);
  }
  await scheduler.settle(
    [
      { ...failing, outcome: FAILED },
      { ...finishing, outcome: { type: 'succeeded', exitCode: 0 } },
    ],
    signal,
  );
  assert.equal((await scheduler.job(failing.jobId, signal)).status, 'cancelled');
  assert.equal((await scheduler.job(finishing.jobId, signal)).status, 'done');
  await assert.rejects(scheduler.cancel(finishing.jobId, { keepChildren: false }, signal), {
    code: 'illegal_transition',
  });
});

test('wait: an end between the look and the wait is not missed', async () => {
  const { scheduler, claimOne, clock } = scene();
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const waiting = scheduler.wait(lease.jobId, 60_000, signal);
  await scheduler.settle([{ ...lease, outcome: { type: 'succeeded', exitCode: 0 } }], signal);
  assert.equal((await waiting).status, 'done');
  assert.ok(clock.now() > 0);
});

test('wait: answers with the job as it is when the time is up', async () => {
  const { scheduler, clock } = scene();
  const { items } = await scheduler.submit([command()], {}, signal);
  const waiting = scheduler.wait(items[0]?.job.id ?? 0, 1_000, signal);
  for (let step = 0; step < 4; step += 1) {
    await setImmediate();
    clock.advance(500);
  }
  assert.equal((await waiting).status, 'pending');
});

test('claim: a long poll is woken by a submit and ended by a drain', async () => {
  const { scheduler } = scene();
  const { id: workerId } = await scheduler.register(worker(), signal);
  const offer = { queues: null, commands: true, handlers: [], tags: [], free: {} };
  const claim = () => scheduler.claim({ workerId, limit: 5, offer, claimSeq: 1, waitMs: 1_000_000 }, signal);
  const first = claim();
  await setImmediate();
  await scheduler.submit([command()], {}, signal);
  assert.equal((await first).length, 1);
  const second = claim();
  await setImmediate();
  scheduler.drain();
  assert.deepEqual(await second, []);
});

test('reaper: takes nothing back until it has watched the store for one full lease', async () => {
  const { scheduler, context, claimOne, clock } = scene();
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  clock.advance(10 * LEASE);
  const loop = reaper(context, { everyMs: 10_000, leaseMs: LEASE, forgetAfterMs: 1e9 });
  const status = async () => (await scheduler.job(lease.jobId, signal)).status;
  for (let watched = 0; watched < LEASE; watched += 10_000) {
    await loop.tick(signal);
    assert.equal(await status(), 'running');
    clock.advance(10_000);
  }
  await loop.tick(signal);
  assert.equal(await status(), 'pending');
});

test('reaper: an outage or a long pause of its own restarts the waiting time', async () => {
  let away = false;
  const { scheduler, context, claimOne, clock } = scene((store) => ({
    ...store,
    leases: (abort) => (away ? Promise.reject(new WorkronError('store_unavailable', 'away')) : store.leases(abort)),
  }));
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const loop = reaper(context, { everyMs: 10_000, leaseMs: LEASE, forgetAfterMs: 1e9 });
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round += 1) {
      await loop.tick(signal).catch(() => undefined);
      clock.advance(10_000);
    }
  };
  await rounds(2);
  away = true;
  await rounds(6);
  away = false;
  await rounds(2);
  assert.equal((await scheduler.job(lease.jobId, signal)).status, 'running');
  clock.advance(600_000);
  await rounds(3);
  assert.equal((await scheduler.job(lease.jobId, signal)).status, 'running');
  await rounds(1);
  assert.equal((await scheduler.job(lease.jobId, signal)).status, 'pending');
});

test('reaper: one that was kept from a round lets workers report before it takes anything back', async () => {
  const { scheduler, context, claimOne, clock } = scene();
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const loop = reaper(context, { everyMs: 20_000, leaseMs: LEASE, forgetAfterMs: 1e9 });
  for (let round = 0; round < 5; round += 1) {
    await scheduler.heartbeat({ workerId: lease.workerId, leases: [lease], seenClaim: 1 }, signal);
    await loop.tick(signal);
    clock.advance(20_000);
  }
  clock.advance(20_000);
  await loop.tick(signal);
  assert.equal((await scheduler.job(lease.jobId, signal)).status, 'running');
});

test('reaper: a worker that reports keeps its jobs', async () => {
  const { scheduler, context, claimOne, clock } = scene();
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const loop = reaper(context, { everyMs: 10_000, leaseMs: LEASE, forgetAfterMs: 1e9 });
  for (let round = 0; round < 20; round += 1) {
    await scheduler.heartbeat({ workerId: lease.workerId, leases: [lease], seenClaim: 1 }, signal);
    await loop.tick(signal);
    clock.advance(10_000);
  }
  assert.equal((await scheduler.job(lease.jobId, signal)).status, 'running');
});

test('lock watcher: one look is a hint, two without a sign of life on a server that stayed up are a death', async () => {
  const free: { id: number; seenAt: number }[] = [];
  let serverStartedAt = 1;
  const { scheduler, context, claimOne, store, clock } = scene((inner) => ({
    ...inner,
    findUnlocked: () => Promise.resolve({ workers: [...free], serverStartedAt }),
  }));
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const [row] = await store.workers(signal);
  const seenAt = row?.seenAt ?? 0;
  const loop = lockWatcher(context);
  const status = async () => (await scheduler.job(lease.jobId, signal)).status;
  const look = async () => {
    await loop.tick(signal);
    clock.advance(5_000);
  };

  await look();
  await look();
  free.push({ id: lease.workerId, seenAt });
  await look();
  assert.equal(await status(), 'running', 'one look');
  free[0] = { id: lease.workerId, seenAt: seenAt + 1 };
  await look();
  assert.equal(await status(), 'running', 'it reported between the looks');
  serverStartedAt = 2;
  await look();
  assert.equal(await status(), 'running', 'the server was restarted');
  free[0] = { id: lease.workerId, seenAt };
  await look();
  assert.equal(await status(), 'running', 'it reported after the restart');
  await look();
  assert.equal(await status(), 'pending');
});

test('lock watcher: a look right after the standby’s last one is not compared with it', async () => {
  const free: { id: number; seenAt: number }[] = [];
  const { scheduler, context, claimOne, store, clock } = scene((inner) => ({
    ...inner,
    findUnlocked: () => Promise.resolve({ workers: [...free], serverStartedAt: 1 }),
  }));
  await scheduler.submit([command()], {}, signal);
  const lease = await claimOne();
  const loop = lockWatcher(context);
  const status = async () => (await scheduler.job(lease.jobId, signal)).status;
  for (let round = 0; round < 3; round += 1) {
    await loop.standby?.(signal);
    clock.advance(5_000);
  }
  const [row] = await store.workers(signal);
  free.push({ id: lease.workerId, seenAt: row?.seenAt ?? 0 });
  await loop.standby?.(signal);
  clock.advance(50);
  await loop.tick(signal);
  assert.equal(await status(), 'running');
  clock.advance(5_000);
  await loop.tick(signal);
  assert.equal(await status(), 'pending', 'free at two looks 5 s apart');
});

test('an earlier owner of the store: what its own workers held is taken back at once, remote leases stand', async () => {
  const { scheduler, context } = scene();
  await scheduler.submit([command(), command()], {}, signal);
  const offer = { queues: null, commands: true, handlers: [], tags: [], free: {} };
  const claimAs = async (attachment: 'local' | 'remote') => {
    const { id: workerId } = await scheduler.register(worker({ attachment, instanceId: 'earlier' }), signal);
    const [job] = await scheduler.claim({ workerId, limit: 1, offer, claimSeq: 1, waitMs: 0 }, signal);
    return job?.id ?? 0;
  };
  const local = await claimAs('local');
  const remote = await claimAs('remote');
  await reclaimFromPreviousRun(context, signal);
  assert.equal((await scheduler.job(local, signal)).status, 'pending');
  assert.equal((await scheduler.job(remote, signal)).status, 'running');
});

test('promoter: makes due jobs claimable and sleeps until the next is due', async () => {
  const { scheduler, context, clock } = scene();
  const { items } = await scheduler.submit([command({ delayMs: 1_000 }), command({ delayMs: 5_000 })], {}, signal);
  using loop = promoter(context, new Wake());
  assert.equal(await loop.tick(signal), 1_001);
  clock.advance(1_001);
  assert.equal(await loop.tick(signal), 4_000);
  const statuses = await Promise.all(items.map(async ({ job }) => (await scheduler.job(job.id, signal)).status));
  assert.deepEqual(statuses, ['pending', 'scheduled']);
});

test('expirer: a job not started within its start_timeout fails with reason expired', async () => {
  const { scheduler, context, clock } = scene();
  const { items } = await scheduler.submit([command({ startTimeoutMs: 1_000 }), command()], {}, signal);
  const loop = expirer(context);
  await loop.tick(signal);
  clock.advance(1_500);
  await loop.tick(signal);
  const jobs = await Promise.all(items.map(({ job }) => scheduler.job(job.id, signal)));
  assert.deepEqual(
    jobs.map(({ status, reason }) => [status, reason]),
    [
      ['failed', 'expired'],
      ['pending', null],
    ],
  );
});

test('why: describes what the job waits for', async () => {
  const { scheduler } = scene();
  const why = async (job: NewJob) => {
    const { items } = await scheduler.submit([job], {}, signal);
    return waitsFor((await scheduler.job(items[0]?.job.id ?? 0, signal)).waiting);
  };
  assert.match(await why(command()), /none is online/);
  await scheduler.register(
    worker({ queues: ['default', 'paused', 'full'], tags: ['eu'], resources: { gpu: 1 } }),
    signal,
  );
  await scheduler.setQueue('paused', { paused: true }, signal);
  await scheduler.setQueue('full', { maxRunning: 0 }, signal);
  assert.match(await why(command()), /1 job before it/);
  assert.match(await why(command({ queue: 'paused' })), /queue paused.*paused/);
  assert.match(await why(command({ queue: 'full' })), /max_running/);
  assert.match(await why(command({ queue: 'other' })), /serves queue other/);
  assert.match(await why(command({ requires: ['gpu'] })), /tag gpu/);
  const tooMuch = await why(command({ resources: { gpu: 2, tpu: 1 } }));
  assert.equal(tooMuch, 'a worker with gpu 2, tpu 1 (the most that one has: gpu 1, tpu 0): none is online');
  assert.match(await why(command({ command: null, handler: 'mail' })), /handler mail/);
  assert.match(await why(command({ delayMs: 1_000 })), /^its start time, 2026-\d\d-\d\dT[\d:.]+Z$/);
});

test('why: names a resource that is in use, with what is left of it', async () => {
  const { scheduler } = scene();
  const { id: workerId } = await scheduler.register(worker({ resources: { gpu: 3, disk: 9 }, slots: 4 }), signal);
  const submit = async (resources: NewJob['resources']) =>
    (await scheduler.submit([command({ resources })], {}, signal)).items[0]?.job.id ?? 0;
  const why = async (id: number) => waitsFor((await scheduler.job(id, signal)).waiting);
  await submit({ gpu: 2 });
  const offer = { queues: null, commands: true, handlers: [], tags: [], free: { gpu: 3, disk: 9 } };
  assert.equal((await scheduler.claim({ workerId, limit: 4, offer, claimSeq: 1, waitMs: 0 }, signal)).length, 1);
  assert.equal(
    await why(await submit({ gpu: 2, disk: 1 })),
    `gpu 2, disk 1 of a worker: gpu is in use, at most 1 of 3 is free on worker ${workerId} (w); it is next in queue default`,
  );
  assert.match((await why(await submit({ gpu: 1 }))) ?? '', /a free slot/);
});

test('why: names what is reserved, where, for whom, and when it is expected to start', async () => {
  const { scheduler, clock } = scene();
  const { id: workerId } = await scheduler.register(worker({ name: 'w', resources: { gpu: 2 }, slots: 4 }), signal);
  const submit = async (gpu: number, timeoutMs: number) =>
    (await scheduler.submit([command({ resources: { gpu }, timeoutMs, killGraceMs: 0 })], {}, signal)).items[0]?.job
      .id ?? 0;
  const why = async (id: number) => waitsFor((await scheduler.job(id, signal)).waiting);
  const claim = (free: number, claimSeq: number) => {
    const offer = { queues: null, commands: true, handlers: [], tags: [], free: { gpu: free } };
    return scheduler.claim({ workerId, limit: 4, offer, claimSeq, waitMs: 0 }, signal);
  };
  await submit(1, 60_000);
  assert.equal((await claim(2, 1)).length, 1);
  const start = new Date(clock.now() + 60_000).toISOString();
  const [big, long, short] = [await submit(2, 60_000), await submit(1, 70_000), await submit(1, 50_000)];
  assert.deepEqual(await claim(1, 2), []);
  assert.equal(
    await why(big),
    `gpu 2 of a worker: gpu is in use, at most 1 of 2 is free on worker ${workerId} (w); what becomes free on worker ${workerId} (w) is reserved for it, expected to start by ${start}; it is next in queue default`,
  );
  const held = `gpu 1 of a worker: what worker ${workerId} (w) has free is reserved for job ${big}, expected to start by ${start}`;
  assert.equal(await why(long), `${held}; 1 job before it in queue default`);
  assert.equal(await why(short), `${held}; 2 jobs before it in queue default`);
  await scheduler.cancel(long, { keepChildren: false }, signal);
  assert.match(await why(short), /a free slot: .*worker 1 \(w\) has room for it now/);
});

test('why: names the key, its numbers, the position and the expected start at a limit and at max_running', async () => {
  const { scheduler, clock } = scene();
  const { id: workerId } = await scheduler.register(worker({ name: 'w', slots: 2 }), signal);
  const submit = async (job: Partial<NewJob>) =>
    (await scheduler.submit([command({ killGraceMs: 0, ...job })], {}, signal)).items[0]?.job.id ?? 0;
  const why = async (id: number) => waitsFor((await scheduler.job(id, signal)).waiting);
  let claims = 0;
  const claim = (limit: number) => {
    const offer = { queues: null, commands: true, handlers: [], tags: [], free: {} };
    return scheduler.claim({ workerId, limit, offer, claimSeq: ++claims, waitMs: 0 }, signal);
  };
  const at = (ms: number) => new Date(clock.now() + ms).toISOString();
  const limits = [{ key: 'customer:42', max: 2 }];
  await submit({ limits, timeoutMs: 60_000 });
  await submit({ limits, timeoutMs: 20_000 });
  assert.equal((await claim(2)).length, 2);
  const waiting = [await submit({ limits }), await submit({ limits }), await submit({ limits })];
  await claim(1);
  const full = 'a place under the limit of customer:42: 2 of 2 run';
  assert.deepEqual(await Promise.all(waiting.map(why)), [
    `${full}, 1st in line, expected to start by ${at(20_000)}`,
    `${full}, 2nd in line, expected to start by ${at(60_000)}`,
    `${full}, 3rd in line`,
  ]);
  await scheduler.setLimit('customer:42', 1, signal);
  const lowered = 'a place under the limit of customer:42: 2 of 1 run, 1st in line';
  assert.equal(await why(waiting[0] ?? 0), `${lowered}, expected to start by ${at(60_000)}`);
  assert.equal(
    await why(await submit({})),
    `a free slot: it is next in queue default; worker ${workerId} (w) runs 2 of 2`,
  );
  await scheduler.setQueue('default', { maxRunning: 2 }, signal);
  assert.match(
    await why(await submit({ priority: 9 })),
    new RegExp(
      `^a place in queue default: 2 of 2 run \\(max_running\\), 1st in line, expected to start by ${at(20_000)}$`,
    ),
  );
});

test('why: reads the running jobs once, however many workers could run the job', async () => {
  let reads = 0;
  const { scheduler } = scene((inner) => ({
    ...inner,
    list: (...args) => ((reads += 1), inner.list(...args)),
    outlook: (...args) => ((reads += 1), inner.outlook(...args)),
  }));
  const offer = { queues: null, commands: true, handlers: [], tags: [], free: { gpu: 2 } };
  for (let count = 0; count < 30; count += 1) {
    const { id: workerId } = await scheduler.register(worker({ resources: { gpu: 2 } }), signal);
    await scheduler.submit([command({ resources: { gpu: count === 7 ? 1 : 2 } })], {}, signal);
    await scheduler.claim({ workerId, limit: 1, offer, claimSeq: 1, waitMs: 0 }, signal);
  }
  const { items } = await scheduler.submit([command({ resources: { gpu: 2 } })], {}, signal);
  const { waiting } = await scheduler.job(items[0]?.job.id ?? 0, signal);
  assert.equal(
    waitsFor(waiting),
    'gpu 2 of a worker: gpu is in use, at most 1 of 2 is free on worker 8 (w); it is next in queue default',
  );
  assert.equal(reads, 1);
});

test('bulk: cancels all matching jobs in batches and reports progress', async () => {
  const { scheduler, context, bulkWake } = scene();
  await scheduler.submit(
    Array.from({ length: 1_200 }, () => command({ queue: 'q' })),
    {},
    signal,
  );
  await scheduler.submit([command()], {}, signal);
  const askedBy = { actor: 'ada', address: '127.0.0.1', requestId: 'r1', partOf: 7 };
  const request = { action: 'cancel', filter: { queue: 'q' }, askedBy } as const;
  assert.deepEqual(await scheduler.bulk({ ...request, dryRun: true }, signal), { total: 1_200, operation: null });
  const { operation } = await scheduler.bulk({ ...request, dryRun: false }, signal);
  const loop = bulkRunner(context, bulkWake);
  await loop.tick(signal);
  const half = await scheduler.operation(operation?.id ?? 0, signal);
  assert.deepEqual([half.status, half.changed], ['running', 500]);
  while ((await loop.tick(signal)) !== undefined);
  const end = await scheduler.operation(operation?.id ?? 0, signal);
  assert.deepEqual([end.status, end.total, end.changed, end.skipped], ['done', 1_200, 1_200, 0]);
  assert.deepEqual(
    (await scheduler.queues(signal)).map(({ name, pending }) => [name, pending]),
    [['default', 1]],
  );
});

test('bulk: each job has an entry in the audit: with its result, or none if the process died before', async () => {
  let dies = true;
  const { scheduler, context, bulkWake } = scene((inner) => ({
    ...inner,
    endAudit: (...call) => (dies ? Promise.reject(new Error('killed')) : inner.endAudit(...call)),
  }));
  const { items } = await scheduler.submit([command(), command()], {}, signal);
  const askedBy = { actor: 'ada', address: '10.0.0.1', requestId: 'r1', partOf: 7 };
  await scheduler.bulk({ action: 'cancel', filter: {}, askedBy, dryRun: false }, signal);
  const loop = bulkRunner(context, bulkWake);
  await assert.rejects(loop.tick(signal), /killed/);
  dies = false;
  while ((await loop.tick(signal)) !== undefined);
  const [first] = items.map(({ job }) => job.id);
  const entries = await scheduler.audit({ subject: `job/${first}` }, { before: null, limit: 10 }, signal);
  assert.deepEqual(
    entries.map(({ actor, address, action, subject, result }) => [actor, address, action, subject, result]),
    ['illegal_transition', null].map((result) => ['ada', '10.0.0.1', 'job.cancel', `job/${first}`, result]),
  );
  assert.ok(entries.every(({ requestId, partOf }) => requestId === 'r1' && partOf === 7));
  const changes = (await scheduler.history(first ?? 0, signal)).filter(({ event }) => event === 'changed');
  assert.deepEqual(
    changes.map(({ text, by }) => [text, by]),
    [['cancelled by ada (result unknown)', 'ada']],
  );
});

test('bulk: a job that cannot be retried because its key is taken does not hold up the others', async () => {
  const { scheduler, context, bulkWake } = scene();
  const unique = { key: 'k', while: 'active', onConflict: 'reject' } as const;
  const { items } = await scheduler.submit([command({ unique }), command(), command()], {}, signal);
  const ids = items.map(({ job }) => job.id);
  for (const id of ids) await scheduler.cancel(id, { keepChildren: false }, signal);
  await scheduler.submit([command({ unique })], {}, signal);
  const { operation } = await scheduler.bulk(
    { action: 'retry', filter: { statuses: ['cancelled'] }, askedBy: null, dryRun: false },
    signal,
  );
  const loop = bulkRunner(context, bulkWake);
  while ((await loop.tick(signal)) !== undefined);
  const end = await scheduler.operation(operation?.id ?? 0, signal);
  assert.deepEqual([end.changed, end.skipped], [2, 1]);
  const statuses = await Promise.all(ids.map(async (id) => (await scheduler.job(id, signal)).status));
  assert.deepEqual(statuses, ['cancelled', 'pending', 'pending']);
  await assert.rejects(scheduler.retry(ids[0] ?? 0, signal), { code: 'unique_conflict' });
});

test('bulk: an operation that fails again and again keeps no other from going on, and goes on itself one day', async () => {
  let away = true;
  const { scheduler, context, bulkWake } = scene((inner) => ({
    ...inner,
    list: (filter, page, abort) =>
      away && filter.queue === 'slow'
        ? Promise.reject(new WorkronError('store_unavailable', 'too slow'))
        : inner.list(filter, page, abort),
  }));
  await scheduler.submit([command({ queue: 'slow' }), command({ queue: 'quick' })], {}, signal);
  const ask = async (queue: string) => {
    const { operation } = await scheduler.bulk(
      { action: 'cancel', filter: { queue }, askedBy: null, dryRun: false },
      signal,
    );
    return async () => (await scheduler.operation(operation?.id ?? 0, signal)).status;
  };
  const [slow, quick] = [await ask('slow'), await ask('quick')];
  const loop = bulkRunner(context, bulkWake);
  await assert.rejects(loop.tick(signal), /too slow/);
  assert.deepEqual([await slow(), await quick()], ['running', 'done']);
  away = false;
  while ((await loop.tick(signal)) !== undefined);
  assert.equal(await slow(), 'done');
});

test('statistics: what ended is added up per minute, queue and outcome, and kept where the store is away', async () => {
  let away = true;
  const { scheduler, context, claimOne, clock, store } = scene((inner) => ({
    ...inner,
    addStats: (rows, abort) =>
      away ? Promise.reject(new WorkronError('store_unavailable', 'away')) : inner.addStats(rows, abort),
    deadlocks: () => 3,
  }));
  await scheduler.submit([command(), command()], {}, signal);
  clock.advance(2_000);
  const lease = await claimOne();
  clock.advance(50);
  await scheduler.settle([{ ...lease, outcome: { type: 'succeeded', exitCode: 0 } }], signal);
  await assert.rejects(context.telemetry.flush(store, signal));
  away = false;
  await context.telemetry.flush(store, signal);
  const rows = await scheduler.stats({ from: 0, to: clock.now() + 60_000 }, signal);
  const counts = Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
  assert.deepEqual(counts, { done: 1, submitted: 2 });
  const done = rows.find(({ outcome }) => outcome === 'done');
  assert.equal(
    done?.wait.reduce((sum, count) => sum + count, 0),
    1,
  );
  const { body } = await scheduler.metrics(signal);
  assert.match(body, /^workron_store_deadlocks_total 3$/m);
  assert.match(body, /workron_job_events_total\{event="done",queue="default"\} 1/);
  assert.match(body, /workron_queue_jobs\{queue="default",status="pending"\} 1/);
});

test('ready: not while the store is away, not while it drains', async () => {
  let away = true;
  const { scheduler } = scene((store) => ({
    ...store,
    checkWritable: (abort) =>
      away ? Promise.reject(new WorkronError('store_unavailable', 'away')) : store.checkWritable(abort),
  }));
  assert.equal((await scheduler.ready(signal)).ready, false);
  assert.deepEqual(scheduler.health().stuck, []);
  away = false;
  assert.equal((await scheduler.ready(signal)).ready, true);
  scheduler.drain();
  assert.equal((await scheduler.ready(signal)).ready, false);
});

test('health: well through quiet hours, whatever the loops wait for; not while one of them hangs', async () => {
  let hangs = false;
  const parts = scene((store) => ({
    ...store,
    lead: (request, abort) => (hangs ? new Promise(() => {}) : store.lead(request, abort)),
  }));
  const { clock, scheduler, rounds } = parts;
  const ended = new AbortController();
  const day = 86_400_000;
  const retention = { doneMs: day, otherMs: day, statsMs: day };
  const settings = {
    leaseMs: LEASE,
    reapEveryMs: 10_000,
    forgetWorkersAfterMs: day,
    retention,
    ledgerMs: day,
    auditMs: day,
  };
  const seldom: Loop = { name: 'seldom', everyMs: 1_000, tick: async () => 7_200_000 };
  const duties = runDuties(parts, settings, ended.signal);
  const { random, log } = parts.context;
  const loop = runLoop(seldom, { signal: ended.signal, clock, random, log, rounds });
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 5) {
      clock.advance(5_000);
      await setImmediate();
      if (!hangs) assert.deepEqual(scheduler.health().stuck, [], `after ${second} s`);
    }
  };
  await pass(2 * 3_600);
  hangs = true;
  await pass(3_700);
  assert.deepEqual(scheduler.health().stuck, ['leader']);
  ended.abort();
  await loop;
  // The round that hangs keeps the duties from ending, as it would a process.
  void duties;
});

test('cluster: the instance that answers was seen now, however rarely it renews its row', async () => {
  const { scheduler, store, clock } = scene();
  const row = { host: 'h', pid: 1, roles: ['api'], version: '0', url: null, beatMs: 60_000 };
  await store.beatInstance({ ...row, id: 'me' }, signal);
  await store.beatInstance({ ...row, id: 'other' }, signal);
  clock.advance(300_000);
  const { instances } = await scheduler.cluster(signal);
  const seen = Object.fromEntries(instances.map(({ id, seenAt, state }) => [id, [clock.now() - seenAt, state]]));
  assert.deepEqual(seen, { me: [0, 'online'], other: [300_000, 'offline'] });
});
