/** A claim that waits is handed jobs with their submit: never twice, never more than it asked for, never for good if the answer is lost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { aJob, anOffer, aWorker } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { forever, ids } from '../../contract/kit/steps.ts';
import { WorkronError } from '../../src/core/error.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { ClaimWaits } from '../../src/scheduler/leases/claim-waits.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import type { ClaimRequest } from '../../src/store/job-store.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';

interface Scene {
  scheduler: Scheduler;
  store: Store;
  clock: VirtualClock;
  /** The calls that the scheduler made, in order. */
  calls: string[];
  workerId: number;
  claim: (request?: Partial<ClaimRequest>, signal?: AbortSignal) => ReturnType<Scheduler['claim']>;
  submit: () => Promise<number[]>;
  /** Resolves once all claims wait. */
  idle: () => Promise<void>;
}

type Around = Partial<Pick<Store, 'claim' | 'insertAndClaim' | 'subscribe' | 'exclusive'>>;

async function scene(around: Around = {}, memory?: Store): Promise<Scene> {
  const clock = new VirtualClock();
  const kept = memory ?? openMemory({ clock });
  const calls: string[] = [];
  const noted = { ...kept, ...around };
  const store: Store = {
    ...noted,
    claim: (...args) => (calls.push('claim'), noted.claim(...args)),
    insert: (...args) => (calls.push('insert'), noted.insert(...args)),
    insertAndClaim: (...args) => (calls.push('insertAndClaim'), noted.insertAndClaim(...args)),
  };
  const { scheduler } = createScheduler({
    store,
    clock,
    random: () => 0.5,
    log: silentLog,
    metrics: new Metrics('0', 'me'),
    instanceId: 'me',
    leaseMs: 30_000,
    heartbeatMs: 5_000,
  });
  const { id: workerId } = await scheduler.register(aWorker(), forever);
  return {
    scheduler,
    store: kept,
    clock,
    calls,
    workerId,
    claim: (request = {}, signal = forever) =>
      scheduler.claim({ workerId, limit: 2, offer: anOffer(), claimSeq: 1, waitMs: 20_000, ...request }, signal),
    submit: async () => {
      const { items } = await scheduler.submit([aJob()], {}, forever);
      return items.map(({ job }) => job.id);
    },
    idle: async () => {
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    },
  };
}

test('idle claims: one that waits gets a new job with one call of the store', async () => {
  const { claim, submit, idle, calls, scheduler } = await scene();
  const claiming = claim();
  await idle();
  const submitted = await submit();
  assert.deepEqual(ids(await claiming), submitted);
  assert.deepEqual(calls, ['claim', 'insertAndClaim']);
  const { body } = await scheduler.metrics(forever);
  assert.match(body, /workron_job_events_total\{event="submitted",queue="default"\} 1/);
  assert.match(body, /workron_job_events_total\{event="claimed",queue="default"\} 1/);
  assert.match(body, /workron_job_wait_seconds_count\{queue="default"\} 1/);
});

test('idle claims: while one is being handed jobs it takes no others', async () => {
  const gate = Promise.withResolvers<void>();
  const memory = openMemory({ clock: new VirtualClock() });
  const slow = async (...args: Parameters<Store['insertAndClaim']>) => {
    await gate.promise;
    return memory.insertAndClaim(...args);
  };
  const { claim, submit, idle, calls, store } = await scene({ insertAndClaim: slow }, memory);
  const claiming = claim();
  await idle();
  const submitting = submit();
  await idle();
  // Others put jobs into the store, and it says so.
  await store.insert([aJob(), aJob()], {}, forever);
  await idle();
  assert.deepEqual(calls, ['claim', 'insertAndClaim']);
  gate.resolve();
  await submitting;
  assert.equal((await claiming).length, 2, 'no more than it asked for');
});

test('idle claims: two submits go to two that wait', async () => {
  const { claim, submit, idle } = await scene();
  const claiming = [claim({ limit: 1, claimSeq: 1 }), claim({ limit: 1, claimSeq: 2 })];
  await idle();
  const submitted = [...(await submit()), ...(await submit())];
  assert.deepEqual((await Promise.all(claiming)).flatMap(ids), submitted);
});

test('idle claims: one that was given up is handed nothing', async () => {
  const { claim, submit, idle, calls, store } = await scene();
  const giveUp = new AbortController();
  const claiming = claim({}, giveUp.signal);
  await idle();
  giveUp.abort(new Error('given up'));
  await assert.rejects(claiming, /given up/);
  const [id = 0] = await submit();
  assert.deepEqual(calls, ['claim', 'insert']);
  assert.equal((await store.read([id], forever))[0]?.status, 'pending');
});

test('idle claims: a claim that is given up while it gets a job returns the job, so that it can be given back', async () => {
  const memory = openMemory({ clock: new VirtualClock() });
  const gate = Promise.withResolvers<void>();
  const slow = async (...args: Parameters<Store['insertAndClaim']>) => {
    const answer = await memory.insertAndClaim(...args);
    await gate.promise;
    return answer;
  };
  const { claim, submit, idle } = await scene({ insertAndClaim: slow }, memory);
  const giveUp = new AbortController();
  const claiming = claim({}, giveUp.signal);
  await idle();
  const submitting = submit();
  await idle();
  giveUp.abort(new Error('given up'));
  gate.resolve();
  assert.deepEqual(ids(await claiming), await submitting);
});

test('idle claims: an answer that is lost fails submit and claim, and what was handed out goes back uncharged', async () => {
  const memory = openMemory({ clock: new VirtualClock() });
  const losing = async (...args: Parameters<Store['insertAndClaim']>) => {
    await memory.insertAndClaim(...args);
    throw new WorkronError('store_unavailable', 'the connection broke');
  };
  const { claim, submit, idle, scheduler, workerId } = await scene({ insertAndClaim: losing }, memory);
  const claiming = claim({ claimSeq: 5 });
  await idle();
  await assert.rejects(submit(), { code: 'store_unavailable' });
  await assert.rejects(claiming, { code: 'store_unavailable' });

  const [held] = (await scheduler.jobs({}, { before: null, limit: 10 }, forever)).items;
  assert.equal(held?.status, 'running');
  // A worker whose claim failed says that it has seen it, and lists nothing of it.
  await scheduler.heartbeat({ workerId, leases: [], seenClaim: 5 }, forever);
  const job = await scheduler.job(held.id, forever);
  assert.deepEqual([job.status, job.failures], ['pending', 0]);
  assert.deepEqual(ids(await claim({ claimSeq: 6 })), [held.id]);
});

test('idle claims: a worker that does not count its claims asks for itself, as do those that cannot run the job', async () => {
  const { claim, submit, idle, calls } = await scene();
  const offer = anOffer({ commands: false, handlers: ['h'] });
  const leave = new AbortController();
  const others = [claim({ claimSeq: null }), claim({ offer }, leave.signal)];
  await idle();
  const submitted = await submit();
  assert.deepEqual(ids((await others[0]) ?? []), submitted);
  assert.ok(!calls.includes('insertAndClaim'));
  leave.abort(new Error('enough'));
  await assert.rejects(others[1] ?? Promise.resolve(), /enough/);
});

/** A store of several processes, none of whose hints arrive here. */
const DEAF = { exclusive: false, subscribe: () => () => undefined };
const INTERVAL_MS = 1_000;

test('idle claims: those with the same wishes look in turn, once an interval', async () => {
  const { claim, idle, calls, clock } = await scene(DEAF);
  for (let claimSeq = 1; claimSeq <= 20; claimSeq += 1) void claim({ claimSeq });
  const others = anOffer({ queues: ['others'] });
  for (let claimSeq = 21; claimSeq <= 30; claimSeq += 1) void claim({ claimSeq, offer: others });
  await idle();
  assert.equal(calls.length, 30, 'each when it begins');
  for (let interval = 0; interval < 5; interval += 1) {
    clock.advance(INTERVAL_MS);
    await idle();
  }
  assert.equal(calls.length, 30 + 5 * 2);
});

test('idle claims: a job without a hint is found within an interval, by every claim that can run it', async () => {
  const { claim, idle, clock, store } = await scene(DEAF);
  const claiming = Array.from({ length: 20 }, (_, place) => claim({ claimSeq: place + 1, limit: 1 }));
  await idle();
  const inserted = await store.insert(
    claiming.map(() => aJob()),
    {},
    forever,
  );
  clock.advance(INTERVAL_MS);
  const claimed = (await Promise.all(claiming)).flatMap(ids);
  assert.equal(claimed.length, claiming.length);
  assert.deepEqual(new Set(claimed), new Set(inserted.items.map(({ job }) => job.id)));
});

test('idle claims: where one fails while it looks, or is given up, another looks at once', async () => {
  const memory = openMemory({ clock: new VirtualClock() });
  const hungUp = new AbortController();
  const claimOf: Store['claim'] = (request, signal) => {
    if (request.claimSeq === 2 && waits) hungUp.abort(new Error('hung up'));
    signal.throwIfAborted();
    return memory.claim(request, signal);
  };
  let waits = false;
  const { claim, idle, clock, scheduler } = await scene(
    { ...DEAF, claim: async (...args) => claimOf(...args) },
    memory,
  );
  const { id: workerId } = await scheduler.register(aWorker(), forever);
  const claiming = [claim({ workerId, claimSeq: 1 }), claim({ claimSeq: 2 }, hungUp.signal), claim({ claimSeq: 3 })];
  const ends = Promise.allSettled(claiming);
  await idle();
  waits = true;
  await memory.leaveWorker(workerId, forever);
  const { items } = await memory.insert([aJob()], {}, forever);
  clock.advance(INTERVAL_MS);
  const [forgotten, givenUp, last] = await ends;
  assert.equal(forgotten?.status === 'rejected' && (forgotten.reason as WorkronError).code, 'worker_not_found');
  assert.equal(givenUp?.status === 'rejected' && (givenUp.reason as Error).message, 'hung up');
  assert.deepEqual(last?.status === 'fulfilled' && ids(last.value), [items[0]?.job.id]);
});

test('idle claims: one whose worker drains is not the only one that looks', async () => {
  const { claim, idle, clock, store, scheduler } = await scene(DEAF);
  const { id: workerId } = await scheduler.register(aWorker(), forever);
  void claim({ workerId });
  await idle();
  const claiming = claim();
  await idle();
  await store.drainWorker(workerId, forever);
  const { items } = await store.insert([aJob()], {}, forever);
  clock.advance(INTERVAL_MS);
  await idle();
  clock.advance(INTERVAL_MS);
  assert.deepEqual(ids(await claiming), [items[0]?.job.id]);
});

test('idle claims: one waits no longer than a lease, however long it asked for', async () => {
  const { scheduler, workerId, idle, clock } = await scene();
  const request = { workerId, limit: 1, offer: anOffer(), claimSeq: 1, waitMs: 3_600_000 };
  const claiming = scheduler.claim(request, forever);
  await idle();
  clock.advance(30_000);
  assert.deepEqual(await claiming, []);
});

test('idle claims: one of a worker whose lease is over is given nothing until the worker is heard again', async () => {
  const { claim, submit, idle, clock, scheduler, workerId } = await scene();
  clock.advance(20_000);
  const claiming = claim();
  await idle();
  clock.advance(11_000);
  const [id] = await submit();
  await idle();
  assert.equal((await scheduler.job(id ?? 0, forever)).status, 'pending');
  await scheduler.heartbeat({ workerId, leases: [], seenClaim: null }, forever);
  assert.deepEqual(ids(await claiming), [id]);
});

test('idle claims: one of a worker that drains or has left is given nothing, and another one gets the job', async () => {
  const { claim, submit, idle, clock, scheduler, workerId } = await scene();
  const drained = claim();
  await idle();
  await scheduler.drainWorker(workerId, forever);
  const gone = await scheduler.register(aWorker(), forever);
  const left = claim({ workerId: gone.id });
  const refused = assert.rejects(left, { code: 'worker_not_found' });
  await idle();
  await scheduler.leave(gone.id, forever);
  const other = await scheduler.register(aWorker(), forever);
  const claiming = claim({ workerId: other.id });
  await idle();
  const submitted = await submit();
  assert.deepEqual(ids(await claiming), submitted);
  await refused;
  clock.advance(20_000);
  assert.deepEqual(await drained, []);
});

test('claim waits: a claim from before its worker was forgotten leaves the wait of a later one alone', () => {
  const waits = new ClaimWaits();
  const before = waits.enter({ workerId: 1, claimSeq: 3 });
  waits.forget(1);
  const after = waits.enter({ workerId: 1, claimSeq: 1 });
  before[Symbol.dispose]();
  waits.end(1, 1);
  assert.equal(after.signal.aborted, true);
});

test('claim waits: a claim that was sent twice can still be ended when the first of them is over', () => {
  const waits = new ClaimWaits();
  const first = waits.enter({ workerId: 1, claimSeq: 1 });
  const second = waits.enter({ workerId: 1, claimSeq: 1 });
  first[Symbol.dispose]();
  waits.end(1, 1);
  assert.equal(second.signal.aborted, true);
});

test('claim waits: ends of waits of unknown workers are not kept without bound', () => {
  const waits = new ClaimWaits();
  for (let workerId = 1; workerId <= 10_001; workerId += 1) waits.end(workerId, 1);
  using oldest = waits.enter({ workerId: 1, claimSeq: 1 });
  using newest = waits.enter({ workerId: 10_001, claimSeq: 1 });
  assert.deepEqual([oldest.signal.aborted, newest.signal.aborted], [false, true]);
});
