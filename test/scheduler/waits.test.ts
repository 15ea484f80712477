/** Waits for the ends of jobs: one look at the store for all who wait. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { WorkronError } from '../../src/core/error.ts';
import { DEFAULT_SPEC, type NewJob } from '../../src/core/job.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import { job, open } from '../../src/index.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';

const COMMAND: NewJob = { ...DEFAULT_SPEC, command: 'true', runAt: null, delayMs: null, unique: null, dependsOn: [] };

interface Scene {
  clock: VirtualClock;
  /** The ids of every read so far. */
  reads: number[][];
  scheduler: ReturnType<typeof createScheduler>['scheduler'];
  ids: number[];
}

/** `deaf`: no hint arrives. */
async function scene(count: number, { deaf = false } = {}): Promise<Scene> {
  const clock = new VirtualClock();
  const memory = openMemory({ clock });
  const reads: number[][] = [];
  const store: Store = {
    ...memory,
    read: (ids, given) => {
      reads.push([...ids]);
      return memory.read(ids, given);
    },
    subscribe: (listener) => (deaf ? () => undefined : memory.subscribe(listener)),
  };
  const shared = { clock, random: () => 0.5, log: silentLog, metrics: new Metrics('0', 'i'), instanceId: 'i' };
  const { scheduler } = createScheduler({ ...shared, store, leaseMs: 30_000, heartbeatMs: 5_000 });
  const { items } = await scheduler.submit(
    Array.from({ length: count }, () => COMMAND),
    {},
    signal,
  );
  return { clock, reads, scheduler, ids: items.map(({ job: { id } }) => id) };
}

/** Resolves once nothing is left to do at this instant. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
}

test('wait: a thousand waits are one look, and a hint makes a look for the jobs that it names', async () => {
  const { clock, reads, scheduler, ids } = await scene(1_000);
  const [first] = ids as [number];
  const ends = ids.map((id) => scheduler.wait(id, 60_000, signal));
  await quiet();
  const looks = reads.splice(0);
  assert.ok(looks.length <= 5, `${looks.length} reads when they begin`);
  assert.deepEqual(
    looks.flat().sort((a, b) => a - b),
    ids,
  );
  await scheduler.cancel(first, { keepChildren: false }, signal);
  reads.splice(0);
  assert.equal((await ends[0])?.status, 'cancelled');
  assert.deepEqual(reads.splice(0), [[first]]);
  clock.advance(100);
  await quiet();
  clock.advance(900);
  await quiet();
  assert.ok(reads.length > 0 && reads.length <= 5, `${reads.length} reads when they poll`);
  scheduler.drain();
  assert.equal((await Promise.all(ends)).filter(({ status }) => status === 'pending').length, 999);
});

test('wait: an end whose hint is lost is found by polling, and polls end with the last wait', async () => {
  const { clock, reads, scheduler, ids } = await scene(2, { deaf: true });
  const [first, second] = ids as [number, number];
  const ends = [scheduler.wait(first, 60_000, signal), scheduler.wait(second, 60_000, signal)] as const;
  const again = scheduler.wait(first, 60_000, signal);
  await quiet();
  await scheduler.cancel(first, { keepChildren: false }, signal);
  clock.advance(100);
  await quiet();
  clock.advance(400);
  assert.deepEqual([(await ends[0]).status, (await again).status], ['cancelled', 'cancelled']);
  clock.advance(60_000);
  assert.equal((await ends[1]).status, 'pending', 'as it is when the time is up');
  await quiet();
  reads.splice(0);
  clock.advance(5_000);
  await quiet();
  assert.deepEqual(reads, []);
});

test('wait: ends beyond those that a hint can name are found with the next look', async () => {
  const { clock, scheduler, ids } = await scene(3_000);
  const ends = ids.map((id) => scheduler.wait(id, 600_000, signal));
  await quiet();
  await Promise.all(ids.map((id) => scheduler.cancel(id, { keepChildren: false }, signal)));
  await quiet();
  clock.advance(100);
  await quiet();
  clock.advance(1);
  const statuses = new Set((await Promise.all(ends)).map(({ status }) => status));
  assert.deepEqual([...statuses], ['cancelled']);
});

test('wait: hints that are cut short do not make the polls of many waits more frequent', async () => {
  const { clock, reads, scheduler, ids } = await scene(2_000);
  const ends = ids.map((id) => scheduler.wait(id, 600_000, signal));
  await quiet();
  const cut = ids.slice(0, 1_000);
  // The first poll is planned before the others wait.
  clock.advance(500);
  await quiet();
  await Promise.all(cut.map((id) => scheduler.cancel(id, { keepChildren: false }, signal)));
  await quiet();
  reads.splice(0);
  clock.advance(900);
  await quiet();
  assert.deepEqual(reads, []);
  clock.advance(1_100);
  await quiet();
  assert.ok(reads.length > 0, 'the rarer poll');
  scheduler.drain();
  await Promise.all(ends);
});

test('wait: a result is waited for through an outage of the store; a stopped Workron ends the wait', async () => {
  const memory = openMemory({ clock: systemClock });
  let isAway = false;
  let refused = 0;
  const store: Store = {
    ...memory,
    read: (ids, given) => {
      if (!isAway) return memory.read(ids, given);
      refused += 1;
      if (refused === 3) isAway = false;
      return Promise.reject(new WorkronError('store_unavailable', 'The database is away'));
    },
  };
  const workron = await open(store, { log: 'silent' });
  const gate = Promise.withResolvers<string>();
  const slow = job('slow', { run: () => gate.promise });
  await workron.start({ jobs: [slow], concurrency: 1 });
  const handle = await workron.submit(slow);
  isAway = true;
  const result = handle.result();
  gate.resolve('there');
  assert.equal(await result, 'there');
  assert.equal(refused, 3);
  const never = await workron.submit(slow, null, { delay: '1h' });
  const stopped = assert.rejects(never.result(), { code: 'shutting_down' });
  await workron.stop();
  await stopped;
});
