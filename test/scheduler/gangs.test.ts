/** Gangs from submission to their end, with the placer's rounds called by hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer, aWorker } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import type { Gang } from '../../src/core/gang.ts';
import type { ClaimedJob } from '../../src/core/job.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { placer } from '../../src/scheduler/duties/placer.ts';
import { openMemory } from '../../src/store/memory/base/open.ts';

const LEASE_MS = 30_000;

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
  const gang = { id: 'g', size: 2, spread: 'spread', onMemberFailure: 'fail', timeoutMs: 60_000, ...rules } as const;
  const members = Array.from({ length: gang.size }, (_, rank) =>
    aJob({ tags: ['gang:g'], maxAttempts: 1, gang: { ...gang, rank } }),
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
    store,
    clock,
    workers,
    ids,
    claim,
    register,
    round: () => duty.tick(signal),
    statuses: async () => (await store.read(ids, signal)).map(({ status }) => status),
    why: async () => (await scheduler.job(ids[0] ?? 0, signal)).waitingFor ?? '',
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

const FAILED = { type: 'failed', exitCode: 7, signal: null, error: 'exit 7' } as const;

test('gang: all members succeed, and nothing of it is left', async () => {
  const { scheduler, store, start, statuses, round } = await scene();
  for (const lease of await start()) {
    await scheduler.settle([{ ...lease, outcome: { type: 'succeeded', exitCode: 0 } }], signal);
    await round();
  }
  assert.deepEqual(await statuses(), ['done', 'done']);
  assert.deepEqual(await store.places(signal), []);
});

test('gang: if a member fails, the others are told to stop, and are cancelled', async () => {
  const { scheduler, store, start, statuses, round } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: FAILED }], signal);
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
  await scheduler.settle([{ ...first, outcome: FAILED }], signal);
  await round();
  assert.deepEqual(await statuses(), ['failed', 'running']);
});

test('gang: if the worker of a member shuts down, the gang ends', async () => {
  const { scheduler, store, start, round, statuses } = await scene();
  const [first, second] = await start();
  await scheduler.settle([{ ...first, outcome: { type: 'interrupted', error: 'drained' } }], signal);
  await round();
  assert.deepEqual(await statuses(), ['cancelled', 'running']);
  assert.notEqual((await store.read([second.jobId], signal))[0]?.cancelRequestedAt, null);
});

test('gang: places are given anew if a worker vanishes before the start, or does not accept in time', async () => {
  const { scheduler, store, clock, workers, round, claim, why, register } = await scene();
  await round();
  const [one = 0, two = 0] = workers;
  assert.equal(await claim(one), undefined);
  assert.match(await why(), /1 of 2 are held; worker 2 \(worker\) has no room yet/);
  await scheduler.leave(two, signal);
  const three = await register();
  await round();
  const sites = (await store.places(signal)).map(({ workerId }) => workerId);
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
  assert.match(await why(), /places for a gang of 3: all online workers together have fewer, even when idle/);
  await scheduler.cancel(ids[1] ?? 0, { keepChildren: false }, signal);
  assert.deepEqual(await statuses(), ['cancelled', 'cancelled', 'cancelled']);
  await scheduler.retry(ids[2] ?? 0, signal);
  assert.deepEqual(await statuses(), ['pending', 'pending', 'pending']);
});
