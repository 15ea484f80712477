/** Every metric that is declared, every statistic and every log line about a job, driven by what it is about. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { aJob, anOffer, aStep, aWorker, aWorkflow } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { aSchedule } from '../../contract/kit/schedules.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { STAT_OUTCOMES } from '../../src/core/stats.ts';
import { createServer } from '../../src/http/server.ts';
import { type Log, silentLog } from '../../src/ops/log.ts';
import { type LifecycleEvent, Metrics } from '../../src/ops/metrics.ts';
import { Wake } from '../../src/ops/wake.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { runStatistics } from '../../src/scheduler/duties/duties.ts';
import { grapher } from '../../src/scheduler/duties/grapher.ts';
import { Leader } from '../../src/scheduler/duties/leader.ts';
import { placer } from '../../src/scheduler/duties/placer.ts';
import { expirer } from '../../src/scheduler/duties/promoter.ts';
import { reaper } from '../../src/scheduler/duties/reaper.ts';
import { ticker } from '../../src/scheduler/duties/ticker.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { eventually } from '../kit/eventually.ts';

const MINUTE = 60_000;
const DONE: Outcome = { type: 'succeeded', exitCode: 0 };
const FAILED: Outcome = { type: 'failed', exitCode: 7, signal: null, error: 'exit 7\nout of paper' };
const FATAL: Outcome = { ...FAILED, fatal: true };

/** All of them: one that is missing here does not compile. */
const EVENTS: Record<LifecycleEvent, true> = {
  submitted: true,
  deduplicated: true,
  claimed: true,
  done: true,
  failed: true,
  retried: true,
  cancelled: true,
  skipped: true,
  lost: true,
  interrupted: true,
  snoozed: true,
  suspended: true,
  returned: true,
  stopped: true,
  expired: true,
  lease_lost: true,
};

interface Line {
  level: string;
  message: string;
  [field: string]: unknown;
}

/** `level` null: the log does not say which lines it writes. */
function scene({ level = 'debug' }: { level?: 'debug' | 'info' | null } = {}) {
  const clock = new VirtualClock();
  const lines: Line[] = [];
  const write = (at: string) => (fields: object, message: string) => void lines.push({ level: at, message, ...fields });
  const log: Log = { ...silentLog, isLevelEnabled: (one) => one !== 'debug' || level === 'debug', info: write('info') };
  log.debug = write('debug');
  if (level === null) delete log.isLevelEnabled;
  const disk = { failing: false };
  const reads = { count: 0, instead: null as ((abort: AbortSignal) => Promise<never>) | null };
  const inner = openMemory({ clock });
  const store: typeof inner = {
    ...inner,
    deadlocks: () => 3,
    read: (ids, abort) => {
      reads.count += 1;
      return reads.instead?.(abort) ?? inner.read(ids, abort);
    },
    healParkings: () => Promise.resolve({ meters: ['limit:a', 'limit:b'], next: null }),
    addStats: (rows, abort) => (disk.failing ? Promise.reject(new Error('no')) : inner.addStats(rows, abort)),
  };
  const metrics = new Metrics('0', 'me');
  const settings = { random: () => 0.5, instanceId: 'me', leaseMs: 30_000, heartbeatMs: 5_000 };
  const parts = createScheduler({ ...settings, store, clock, log, metrics });
  const { scheduler, context } = parts;
  const graph = grapher(context, new Wake());
  const claim = async (workerId: number, claimSeq: number | null = null) => {
    const request = { workerId, limit: 1, offer: anOffer(), claimSeq, waitMs: 0 };
    const [job] = await scheduler.claim(request, signal);
    assert.ok(job, 'nothing to claim');
    return { jobId: job.id, attempt: job.attempt, workerId };
  };
  /** Submits a job, claims it, and lets it end a moment later. */
  const runOne = async (workerId: number, outcome: Outcome, wanted: Parameters<typeof aJob>[0] = {}) => {
    await scheduler.submit([aJob(wanted)], {}, signal);
    const lease = await claim(workerId);
    clock.advance(40);
    await scheduler.settle([{ ...lease, outcome }], signal);
    return lease;
  };
  const events = async () => {
    const { values } = await metrics.jobs.get();
    const sums = new Map<string, number>();
    for (const { labels, value } of values)
      sums.set(String(labels.event), (sums.get(String(labels.event)) ?? 0) + value);
    return sums;
  };
  const totals = async () => {
    await context.telemetry.flush(store, signal);
    const sums: Record<string, number> = {};
    for (const { outcome, count } of await scheduler.stats({ from: 0, to: clock.now() + 1 }, signal)) {
      sums[outcome] = (sums[outcome] ?? 0) + count;
    }
    return sums;
  };
  return { ...parts, clock, store, metrics, graph, lines, disk, reads, claim, runOne, events, totals };
}

type Scene = ReturnType<typeof scene>;

/** Makes each lifecycle event happen at least once, with what a scheduler and its duties do. */
async function liveThrough({ scheduler, context, clock, graph, claim, runOne }: Scene): Promise<void> {
  const { id } = await scheduler.register(aWorker(), signal);
  const unique = { key: 'k', while: 'active', onConflict: 'existing' } as const;
  await runOne(id, DONE);
  await runOne(id, FATAL);
  await runOne(id, FAILED, {
    backoff: { type: 'fixed', baseMs: 3 * 3_600_000, factor: 1, capMs: 86_400_000, jitter: 0 },
  });
  await runOne(id, { type: 'interrupted', error: 'stopped' }, { maxAttempts: 1 });
  await scheduler.settle([{ ...(await claim(id)), outcome: DONE }], signal);
  const late = await runOne(id, { type: 'snoozed', delayMs: MINUTE });
  await scheduler.settle([{ ...late, outcome: DONE }], signal);
  await scheduler.submit([aJob()], {}, signal);
  const sleeper = await claim(id);
  const nap = { name: 'nap', kind: 'sleep', tries: 0, tookMs: 0, result: null, thrown: null } as const;
  await scheduler.writeSteps([{ ...sleeper, ...nap, wait: { ms: 3 * 3_600_000 } }], signal);
  await scheduler.settle([{ ...sleeper, outcome: { type: 'suspended', awaits: ['nap'] } }], signal);
  for (let twice = 0; twice < 2; twice += 1) await scheduler.submit([aJob({ unique, delayMs: 1_000 })], {}, signal);
  const { items } = await scheduler.submit([aJob({ delayMs: 1_000 })], {}, signal);
  await scheduler.cancel(items[0]?.job.id ?? 0, { keepChildren: false }, signal);

  // The answer to a claim that never arrived: the next heartbeat does not list the job.
  const numbered = await scheduler.register(aWorker(), signal);
  await scheduler.submit([aJob({ name: 'returned' })], {}, signal);
  await claim(numbered.id, 1);
  await scheduler.heartbeat({ workerId: numbered.id, leases: [], seenClaim: 1 }, signal);
  await scheduler.settle([{ ...(await claim(id)), outcome: DONE }], signal);

  // A member that is stopped with its gang.
  const rules = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'restart', timeoutMs: MINUTE } as const;
  const members = [0, 1].map((rank) => aJob({ tags: ['gang:g'], requires: ['crew'], gang: { ...rules, rank } }));
  await scheduler.submit(members, {}, signal);
  const crew = await scheduler.register(aWorker({ slots: 2, tags: ['crew'] }), signal);
  const place = placer(context);
  await place.tick(signal);
  const both = { workerId: crew.id, limit: 2, offer: anOffer({ tags: ['crew'] }), claimSeq: 1, waitMs: 0 };
  const [first, second] = (await scheduler.claim(both, signal)).map(({ id: jobId, attempt }) => ({
    jobId,
    attempt,
    workerId: crew.id,
  }));
  assert.ok(first && second);
  await scheduler.settle([{ ...first, outcome: FAILED }], signal);
  await place.tick(signal);
  await scheduler.settle([{ ...second, outcome: { type: 'cancelled', error: null } }], signal);
  await scheduler.cancel(first.jobId, { keepChildren: false }, signal);

  // A failing step skips the steps after it: its child at once, the next one by the cascade.
  const steps = [aStep('a'), aStep('b', { parents: [0] }), aStep('c', { parents: [1] })];
  await scheduler.submitWorkflow(aWorkflow(steps), {}, signal);
  await scheduler.settle([{ ...(await claim(id)), outcome: FATAL }], signal);
  await graph.tick(signal);

  await scheduler.submit([aJob({ startTimeoutMs: 1_000, requires: ['gpu'] })], {}, signal);
  clock.advance(1_001);
  await expirer(context).tick(signal);

  await scheduler.submit([aJob({ name: 'lost', maxAttempts: 1 })], {}, signal);
  await claim(id);
  const reap = reaper(context, { everyMs: 10_000, leaseMs: 30_000, forgetAfterMs: 86_400_000 });
  for (let round = 0; round < 8; round += 1) {
    await reap.tick(signal);
    clock.advance(9_000);
  }
  // What ends by the graph is read and counted a moment later.
  await eventually(async () => (await context.telemetry.metrics.jobs.get()).values.some(isCascaded));
}

function isCascaded({ labels, value }: { labels: Partial<Record<string, string | number>>; value: number }): boolean {
  return labels['event'] === 'skipped' && value === 2;
}

test('counters: every lifecycle event and every statistic is counted, and the two agree', async () => {
  const given = scene();
  await liveThrough(given);
  const events = await given.events();
  for (const event of Object.keys(EVENTS)) assert.ok((events.get(event) ?? 0) > 0, `${event} was never counted`);
  const totals = await given.totals();
  for (const outcome of STAT_OUTCOMES) {
    assert.equal(totals[outcome], events.get(outcome), `${outcome}: the statistics and the metrics differ`);
  }
  const { jobs } = await counted(given);
  assert.equal(events.get('submitted'), jobs);
});

/** The number of jobs in the store. */
async function counted({ store }: Scene): Promise<{ jobs: number }> {
  return { jobs: await store.count({}, 10_000, signal) };
}

test('counters: no declared metric stays without a sample other than zero', async () => {
  const given = scene();
  const { scheduler, context, clock, metrics, disk } = given;
  await liveThrough(given);

  await scheduler.createSchedule(aSchedule({ anchor: clock.now(), everyMs: MINUTE }), signal);
  clock.advance(MINUTE + 100);
  using ticks = ticker(context, new Wake());
  await ticks.tick(signal);
  using leader = new Leader(context);
  leader.lead('pruner', () => ({ name: 'pruner', everyMs: 1, tick: async () => undefined }));
  await leader.loop.tick(signal);
  await scheduler.register(aWorker(), signal);
  metrics.stuckSlots = () => 1;
  const busy = await scheduler.register(aWorker({ resources: { gpu: 2 } }), signal);
  await scheduler.submit([aJob({ queue: 'gpu', resources: { gpu: 2 } })], {}, signal);
  const half = { workerId: busy.id, limit: 1, offer: anOffer({ queues: ['gpu'], free: { gpu: 1 } }), claimSeq: 1 };
  await scheduler.claim({ ...half, waitMs: 0 }, signal);
  await scheduler.submit([aJob({ queue: 'limited', limits: [{ key: 'customer', max: 1 }] })], {}, signal);
  const limited = { workerId: busy.id, limit: 1, offer: anOffer({ queues: ['limited'] }), claimSeq: 2 };
  await scheduler.claim({ ...limited, waitMs: 0 }, signal);
  await scheduler.submit([aJob()], {}, signal);
  clock.advance(1_000);
  disk.failing = true;
  const ended = new AbortController();
  const statistics = runStatistics(given, ended.signal);
  await eventually(async () => (await metrics.loopErrors.get()).values.length > 0);
  ended.abort();
  await statistics;
  const server = createServer({
    scheduler,
    token: null,
    allowedHosts: [],
    log: silentLog,
    version: '0',
    examine: async () => [],
  });
  const listening = await server.listen({ host: '127.0.0.1', port: 0 });
  const { url } = listening;
  await using _server = { [Symbol.asyncDispose]: () => listening.close() };
  for (const path of ['/jobs/1', '/jobs/999', '/nowhere']) await fetch(url + path);
  // A request is counted when its answer has been sent.
  await eventually(async () => (await metrics.httpRequests.get()).values.length === 3);
  const text = await (await fetch(`${url}/metrics`)).text();

  const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name as string);
  assert.deepEqual(
    names.toSorted(),
    metrics.registry
      .getMetricsAsArray()
      .map(({ name }) => name)
      .toSorted(),
  );
  for (const name of names) {
    const samples = [...text.matchAll(new RegExp(`^${name}(?:_count)?(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
    assert.ok(
      samples.some(([, value]) => Number(value) > 0),
      `${name} has no sample above zero`,
    );
  }
  const requests = text.split('\n').filter((line) => line.startsWith('workron_http_requests_total{'));
  assert.deepEqual(
    requests.toSorted(),
    [
      'workron_http_requests_total{route="GET /jobs/:id",status="200"} 1',
      'workron_http_requests_total{route="GET /jobs/:id",status="404"} 1',
      'workron_http_requests_total{route="unknown",status="404"} 1',
    ].toSorted(),
  );
});

test('counters: a retry is counted in the minute in which the attempt failed, not when the next one is due', async () => {
  const { scheduler, context, store, clock, runOne } = scene();
  const { id } = await scheduler.register(aWorker(), signal);
  const backoff = { type: 'fixed', baseMs: 3 * 3_600_000, factor: 1, capMs: 86_400_000, jitter: 0 } as const;
  await runOne(id, FAILED, { backoff });
  await context.telemetry.flush(store, signal);
  const rows = await scheduler.stats({ from: 0, to: clock.now() + 86_400_000 }, signal);
  const minute = clock.now() - (clock.now() % MINUTE);
  assert.deepEqual(
    rows.filter(({ outcome }) => outcome === 'retried').map(({ minute, count }) => [minute, count]),
    [[minute, 1]],
  );
});

test('counters: steps of reruns and of scheduled workflows, and items of groups, count as submitted', async () => {
  const { scheduler, context, store, clock, graph, events } = scene();
  const forEach = { items: ['x', 'y', 'z'], maxParallel: null };
  const { workflow } = await scheduler.submitWorkflow(aWorkflow([aStep('each', { forEach })]), {}, signal);
  await graph.tick(signal);
  await eventually(async () => (await events()).get('submitted') === 4);
  await scheduler.rerunWorkflow(workflow.id, { from: 'each', only: false }, signal);
  assert.equal((await events()).get('submitted'), 5);
  const target = { workflow: { name: 'w', params: {}, steps: [aStep('a'), aStep('b', { parents: [0] })] } };
  await scheduler.createSchedule(aSchedule({ anchor: clock.now(), everyMs: MINUTE, target, overlap: 'allow' }), signal);
  clock.advance(MINUTE);
  using ticks = ticker(context, new Wake());
  await ticks.tick(signal);
  assert.equal((await events()).get('submitted'), 7);
  await scheduler.runSchedule('nightly', { keys: null }, {}, signal);
  assert.equal((await events()).get('submitted'), 9);
  await graph.tick(signal);
  assert.equal(await store.count({}, 100, signal), 12);
});

test('log: ends other than success are told at info, with what is needed to find the cause', async () => {
  const { lines, ...given } = scene({ level: 'info' });
  await liveThrough({ lines, ...given });
  assert.deepEqual([...new Set(lines.map(({ level }) => level))], ['info']);
  const messages = lines.map(({ message }) => message);
  assert.deepEqual([...new Set(messages)].toSorted(), [
    'attempt failed; the job will run again',
    'job cancelled',
    'job failed',
    'job skipped',
  ]);
  const failed = lines.find(({ message }) => message === 'job failed');
  assert.deepEqual(failed, {
    level: 'info',
    message: 'job failed',
    job_id: 2,
    attempt: 1,
    queue: 'default',
    name: null,
    handler: null,
    worker_id: 1,
    duration_ms: 40,
    reason: 'fatal',
    exit_code: 7,
    signal: null,
    error: 'exit 7',
  });
  const skipped = lines.filter(({ message }) => message === 'job skipped');
  assert.deepEqual(
    skipped.map(({ step, reason }) => [step, reason]),
    [
      ['b', 'upstream_failed'],
      ['c', 'upstream_failed'],
    ],
  );
});

test('log: at debug, submission, start and success of a job are told as well', async () => {
  const { scheduler, runOne, lines } = scene();
  const { id } = await scheduler.register(aWorker(), signal);
  await runOne(id, DONE, { name: 'report', queue: 'night' });
  await eventually(() => lines.some(({ message }) => message === 'job done'));
  const about = { level: 'debug', job_id: 1, queue: 'night', name: 'report', handler: null };
  assert.deepEqual(lines, [
    { ...about, message: 'job submitted', attempt: 0, status: 'pending' },
    { ...about, message: 'job started', attempt: 1, worker_id: id },
    {
      ...about,
      message: 'job done',
      attempt: 1,
      worker_id: id,
      duration_ms: 40,
      reason: null,
      exit_code: 0,
      signal: null,
      error: null,
    },
  ]);
});

test('log: a success is answered even if the job cannot be read for its line', async () => {
  const { scheduler, claim, lines, reads } = scene();
  const { id } = await scheduler.register(aWorker(), signal);
  const settleOne = async () => {
    await scheduler.submit([aJob()], {}, signal);
    return await scheduler.settle([{ ...(await claim(id)), outcome: DONE }], signal);
  };
  reads.instead = () => new Promise(() => undefined);
  assert.deepEqual(await settleOne(), ['ok'], 'not before the read ends');
  reads.instead = () => Promise.reject(new Error('away'));
  assert.deepEqual(await settleOne(), ['ok']);
  await eventually(() => lines.some(({ message }) => message.startsWith('could not read')));
});

test('log: jobs are not read for a log that does not say whether it writes debug lines', async () => {
  const { scheduler, runOne, reads, lines } = scene({ level: null });
  const { id } = await scheduler.register(aWorker(), signal);
  await runOne(id, DONE);
  assert.equal(reads.count, 0);
  assert.deepEqual(
    lines.map(({ message }) => message),
    ['job submitted', 'job started'],
  );
});

test('close: jobs that cannot be read to be counted do not hold it up for ever, and those that wait are read together', async () => {
  const memory = openMemory({ clock: new VirtualClock() });
  const clock = new VirtualClock();
  const reads: { ids: readonly number[]; abort: AbortSignal; answer: (jobs: []) => void }[] = [];
  let observer: Parameters<typeof memory.observe>[0] | undefined;
  const store: typeof memory = {
    ...memory,
    observe: (given) => {
      observer = given;
      return () => undefined;
    },
    read: (ids, abort) => new Promise((answer) => void reads.push({ ids, abort, answer })),
  };
  const settings = { random: () => 0.5, instanceId: 'me', leaseMs: 30_000, heartbeatMs: 5_000 };
  const { scheduler } = createScheduler({ ...settings, store, clock, log: silentLog, metrics: new Metrics('0', 'me') });
  for (const id of [1, 2, 3]) {
    observer?.({ ended: [id], items: [] });
    await setImmediate();
  }
  assert.deepEqual(
    reads.map(({ ids }) => ids),
    [[1]],
  );
  reads[0]?.answer([]);
  await setImmediate();
  assert.deepEqual(reads[1]?.ids, [2, 3]);
  const closed = scheduler[Symbol.asyncDispose]();
  assert.equal(reads[1]?.abort.aborted, false, 'it gets some time');
  clock.advance(5_000);
  await closed;
  assert.equal(reads[1]?.abort.aborted, true);
});
