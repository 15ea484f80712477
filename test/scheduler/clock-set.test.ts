/** Clocks that are set while jobs run: the store's, and that of a scheduler. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { aJob, anOffer, aWorker, LEASE_MS } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { forever } from '../../contract/kit/steps.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { Leader } from '../../src/scheduler/duties/leader.ts';
import { lockWatcher, reaper } from '../../src/scheduler/duties/reaper.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';

const MINUTE_MS = 60_000;
const BEAT_MS = 5_000;
const REAPER = { everyMs: 10_000, leaseMs: LEASE_MS, forgetAfterMs: 86_400_000 };

/** A scheduler on a shared store: each has a clock of its own. A worker holds a job. */
async function scene(wrap: (store: Store, storeClock: VirtualClock) => Store = (store) => store) {
  const [clock, storeClock] = [new VirtualClock(), new VirtualClock()];
  const store = wrap({ ...openMemory({ clock: storeClock }), exclusive: false }, storeClock);
  const { scheduler, context, rounds } = createScheduler({
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
    metrics: new Metrics('0', 'me'),
    instanceId: 'me',
    leaseMs: LEASE_MS,
    heartbeatMs: BEAT_MS,
  });
  const { id: workerId } = await scheduler.register(aWorker(), forever);
  await scheduler.submit([aJob()], {}, forever);
  const request = { workerId, limit: 1, offer: anOffer(), claimSeq: 1, waitMs: 0 };
  const [job] = await scheduler.claim(request, forever);
  assert.ok(job);
  const lease = { jobId: job.id, attempt: job.attempt };
  const beat = () => scheduler.heartbeat({ workerId, leases: [lease], seenClaim: 1 }, forever);
  const status = async () => (await scheduler.job(job.id, forever)).status;
  const pass = (ms: number) => {
    clock.advance(ms);
    storeClock.advance(ms);
  };
  /** Lets a loop have its rounds for some time; the worker sends heartbeats if it is alive. */
  const run = async (loop: { tick(signal: AbortSignal): Promise<unknown> }, ms: number, alive: boolean) => {
    for (let passed = 0; passed < ms; passed += BEAT_MS) {
      if (alive) await beat();
      if (passed % REAPER.everyMs === 0) await loop.tick(forever);
      pass(BEAT_MS);
    }
  };
  return { scheduler, context, rounds, clock, storeClock, workerId, beat, status, pass, run };
}

for (const [way, jumpMs] of [
  ['forward', 45_000],
  ['forward by an hour', 3_600_000],
  ['back', -10 * MINUTE_MS],
] as const) {
  test(`reaper: a store whose clock is set ${way} costs no live worker its jobs`, async () => {
    const { context, run, status, storeClock, scheduler } = await scene();
    const loop = reaper(context, REAPER);
    await run(loop, 2 * MINUTE_MS, true);
    storeClock.set(jumpMs);
    // The worker's next heartbeat has not arrived yet.
    await loop.tick(forever);
    assert.equal(await status(), 'running');
    assert.equal((await scheduler.workers(forever))[0]?.state, 'online');
    await run(loop, 2 * MINUTE_MS, true);
    assert.equal(await status(), 'running');
  });

  test(`reaper: a store whose clock is set ${way} delays the jobs of a dead worker by one lease, no more`, async () => {
    const { context, run, status, storeClock, scheduler } = await scene();
    const loop = reaper(context, REAPER);
    await run(loop, 2 * MINUTE_MS, true);
    storeClock.set(jumpMs);
    await run(loop, LEASE_MS, false);
    assert.equal(await status(), 'running');
    await run(loop, REAPER.everyMs, false);
    assert.equal(await status(), 'pending');
    assert.equal((await scheduler.workers(forever))[0]?.state, 'offline');
  });
}

for (const { jumpMs, beats } of [
  { jumpMs: 45_000, beats: false },
  { jumpMs: 3_600_000, beats: true },
  { jumpMs: -10 * MINUTE_MS, beats: false },
]) {
  test(`reaper: a clock that is set by ${jumpMs} ms between the look at it and the search costs nothing`, async () => {
    let jump = 0;
    const { context, run, status, beat } = await scene((store, storeClock) => ({
      ...store,
      async now(signal) {
        const now = await store.now(signal);
        storeClock.set(jump);
        if (jump !== 0 && beats) await beat();
        jump = 0;
        return now;
      },
    }));
    const loop = reaper(context, REAPER);
    await run(loop, 2 * MINUTE_MS, true);
    jump = jumpMs;
    await loop.tick(forever);
    assert.equal(await status(), 'running');
  });
}

for (const [way, jumpMs] of [
  ['back by a lease', -LEASE_MS],
  ['back by an hour', -3_600_000],
  ['forward by a lease', LEASE_MS],
  ['forward by an hour', 3_600_000],
] as const) {
  /** The clock is set for a moment, in which the worker sends a heartbeat, and no reaper looks. */
  const setForAMoment = async ({ storeClock, beat, pass }: Awaited<ReturnType<typeof scene>>) => {
    storeClock.set(jumpMs);
    await beat();
    pass(195);
    storeClock.set(-jumpMs);
  };

  test(`reaper: a clock that is set ${way} for a moment costs a worker that is heard in it nothing`, async () => {
    const given = await scene();
    const { context, run, status, scheduler } = given;
    const loop = reaper(context, REAPER);
    await run(loop, 2 * MINUTE_MS, true);
    await setForAMoment(given);
    await loop.tick(forever);
    await run(loop, 2 * MINUTE_MS, true);
    assert.equal(await status(), 'running');
    assert.equal((await scheduler.workers(forever))[0]?.state, 'online');
  });

  test(`reaper: a clock that is set ${way} for a moment delays the jobs of a worker that dies then by no lease`, async () => {
    const given = await scene();
    const { context, run, status } = given;
    const loop = reaper(context, REAPER);
    await run(loop, 2 * MINUTE_MS, true);
    await setForAMoment(given);
    await run(loop, LEASE_MS, false);
    assert.equal(await status(), 'running');
    await run(loop, REAPER.everyMs, false);
    assert.equal(await status(), 'pending');
  });
}

test('reaper: an instance that stands by notices a set clock too', async () => {
  const { context, run, status, storeClock } = await scene();
  const loop = reaper(context, REAPER);
  await run({ tick: async (signal) => loop.standby?.(signal) }, 2 * MINUTE_MS, true);
  storeClock.set(45_000);
  await loop.standby?.(forever);
  await loop.tick(forever);
  assert.equal(await status(), 'running');
});

test('reaper: a slow clock adjustment, and an answer that took long, are not taken for a set clock', async () => {
  let latencyMs = 0;
  const { context, run, status, storeClock, pass } = await scene((store) => ({
    ...store,
    async now(signal) {
      const now = await store.now(signal);
      pass(latencyMs);
      return now;
    },
  }));
  const loop = reaper(context, REAPER);
  await run(loop, 2 * MINUTE_MS, true);
  for (let second = 0; second < LEASE_MS + 2 * REAPER.everyMs; second += REAPER.everyMs) {
    storeClock.set(5);
    latencyMs = 900;
    await loop.tick(forever);
    pass(REAPER.everyMs - latencyMs);
  }
  assert.equal(await status(), 'pending');
});

test('lock watcher: a server that has just started is given time, whatever its clock says', async () => {
  const free: { id: number; seenAt: number }[] = [];
  let serverStartedAt = 1;
  const { context, status, pass, workerId, scheduler } = await scene((store) => ({
    ...store,
    findUnlocked: () => Promise.resolve({ workers: [...free], serverStartedAt }),
  }));
  const loop = lockWatcher(context);
  const look = async () => {
    await loop.tick(forever);
    pass(BEAT_MS);
  };
  for (let round = 0; round < 3; round += 1) await look();
  serverStartedAt = 2;
  free.push({ id: workerId, seenAt: (await scheduler.workers(forever))[0]?.seenAt ?? 0 });
  await look();
  await look();
  assert.equal(await status(), 'running');
  await look();
  assert.equal(await status(), 'pending');
});

test('leader: the term does not end, and is renewed in time, when the clock of the process is set', async () => {
  const { context, clock, pass } = await scene();
  const calls: number[] = [];
  const store: Store = {
    ...context.store,
    lead: (request, signal) => {
      calls.push(clock.monotonicMs());
      return context.store.lead(request, signal);
    },
  };
  const leader = new Leader({ ...context, store });
  leader.lead('promoter', () => ({ name: 'promoter', everyMs: 1_000, tick: async () => undefined }));
  for (const jumpMs of [0, MINUTE_MS, -10 * MINUTE_MS]) {
    clock.set(jumpMs);
    if (jumpMs !== 0) assert.equal(leader.leads('promoter'), true);
    for (let round = 0; round < 3; round += 1) pass((await leader.loop.tick(forever)) ?? 0);
  }
  assert.deepEqual(
    calls.map((at, index) => at - (calls[index - 1] ?? 0)),
    [0, ...calls.slice(1).map(() => 2_000)],
  );
});

test('health: a clock of the process that is set forward makes no loop look stuck', async () => {
  const { rounds, clock, scheduler } = await scene();
  rounds.begin('reaper', 10_000);
  clock.set(86_400_000);
  assert.deepEqual(scheduler.health().stuck, []);
  assert.ok(scheduler.health().uptimeMs < MINUTE_MS);
});

test('claim, wait: the answer is not late when the clock of the process is set back', async () => {
  const { scheduler, clock, pass, workerId } = await scene();
  const { items } = await scheduler.submit([aJob({ delayMs: 3_600_000 })], {}, forever);
  const request = { workerId, limit: 1, offer: anOffer(), claimSeq: 2, waitMs: 5_000 };
  const answers = [scheduler.claim(request, forever), scheduler.wait(items[0]?.job.id ?? 0, 5_000, forever)];
  await setImmediate();
  clock.set(-10 * MINUTE_MS);
  for (let second = 0; second < 6; second += 1) {
    pass(1_000);
    await setImmediate();
  }
  await Promise.all(answers);
});
