/** Jobs that a worker claims before it has slots for them. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type ClaimedJob, DEFAULT_SPEC } from '../../src/core/job.ts';
import { type Job, job, open } from '../../src/index.ts';
import { Backlog } from '../../src/worker/claim/backlog.ts';
import { ThroughputEstimate } from '../../src/worker/claim/throughput-estimate.ts';
import { Assignment } from '../../src/worker/run/assignment.ts';
import { effort } from '../effort.ts';
import { Child } from '../kit/child.ts';
import { eventually } from '../kit/eventually.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

function claimedJob(id: number, priority: number): ClaimedJob {
  return {
    ...DEFAULT_SPEC,
    id,
    priority,
    attempt: 1,
    failures: 0,
    dueAt: 0,
    startedAt: 0,
    prefetched: true,
    runContext: null,
  };
}

test('prefetch: as many jobs wait as the slots consume in a quarter of a second, and none after a pause', () => {
  let now = 0;
  const appetite = new ThroughputEstimate(() => now);
  assert.equal(appetite.jobs, 0);
  for (; now < 1_000; now += 5) appetite.consumed();
  assert.ok(appetite.jobs >= 45 && appetite.jobs <= 55, `${appetite.jobs} for 200 a second`);
  now += 10_000;
  assert.equal(appetite.jobs, 0);
  for (let count = 0; count < 1_000_000; count += 1_000) {
    now += 1;
    for (let each = 0; each < 1_000; each += 1) appetite.consumed();
  }
  assert.equal(appetite.jobs, 1_000);
});

test('prefetch: where claims take long, the slots that wait for them are not taken for slow', () => {
  let now = 0;
  const appetite = new ThroughputEstimate(() => now);
  for (let claim = 0; claim < 20; claim += 1) {
    appetite.begin();
    for (let each = 0; each < 24; each += 1) appetite.consumed();
    now += 3;
    appetite.rest();
    now += 800;
    assert.equal(appetite.jobs, 1_000, `after ${claim + 1} claims`);
  }
  now += 60_000;
  appetite.begin();
  assert.equal(appetite.jobs, 0, 'what comes after a long rest may be of another kind');
});

test('prefetch: handlers that have only begun tell nothing', () => {
  let now = 0;
  const appetite = new ThroughputEstimate(() => now);
  appetite.begin();
  now += 5;
  for (let each = 0; each < 9; each += 1) appetite.consumed();
  assert.equal(appetite.jobs, 0);
  appetite.consumed();
  assert.equal(appetite.jobs, 500);
});

test('prefetch: the most urgent of those that wait goes first, then the one that was claimed first', () => {
  const backlog = new Backlog();
  const all = [0, 5, 0, -1, 5].map((priority, id) => new Assignment(claimedJob(id, priority), 1, 0));
  for (const assignment of all) backlog.add(assignment);
  assert.equal(backlog.delete(all[2] as Assignment), true);
  assert.equal(backlog.delete(all[2] as Assignment), false);
  assert.deepEqual(
    Array.from({ length: 5 }, () => backlog.take()?.jobId),
    [1, 4, 0, 3, undefined],
  );
  for (const assignment of all) backlog.add(assignment);
  assert.deepEqual(
    [2, 0].map((most) => backlog.takeBeyond(most).map(({ jobId }) => jobId)),
    [
      [0, 2, 3],
      [1, 4],
    ],
  );
  assert.equal(backlog.size, 0);
});

test('prefetch: what waits behind handlers that have become slow goes back, and others run it', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const gate = Promise.withResolvers<void>();
  const work = job('work', { run: (place: number) => (place < 100 ? undefined : gate.promise) });
  const places = Array.from({ length: 400 }, (_, place) => place);
  const handles = await workron.submitAll(work, places);
  await workron.start({ jobs: [work], concurrency: 4 });
  const back = await eventually(async () => {
    const jobs = await Promise.all(handles.map(({ id }) => workron.job(id)));
    const left = jobs.filter(({ status }) => status !== 'done');
    return left.length === 300 && left.filter(({ status }) => status === 'running').length === 4 && left;
  });
  assert.ok(back.some(({ attempts, status }) => attempts > 0 && status === 'pending'));
  gate.resolve();
  const ended = await Promise.all(handles.map((handle) => handle.ended()));
  assert.ok(ended.every(({ status, failures, interruptions }) => status === 'done' && failures + interruptions === 0));
});

test('prefetch: a worker that leaves gives back at once what has not started, uncharged', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const gate = Promise.withResolvers<void>();
  const blocked = Promise.withResolvers<void>();
  let started = 0;
  const work = job('work', {
    run: async (place: number) => {
      started += 1;
      if (place < 100) return;
      if (place === 100) blocked.resolve();
      await gate.promise;
    },
  });
  const handles = await workron.submitAll(
    work,
    Array.from({ length: 400 }, (_, place) => place),
  );
  await workron.start({ jobs: [work], concurrency: 4 });
  await blocked.promise;
  const stopped = workron.stop();
  // Those that run hold the worker up; the others are back before.
  const jobs = await eventually(async () => {
    const now = await Promise.all(handles.map(({ id }) => workron.job(id)));
    return now.filter(({ status }) => status === 'running').length <= 4 && now;
  });
  gate.resolve();
  await stopped;
  assert.equal(started, jobs.filter(({ status }) => status === 'done' || status === 'running').length);
  const back = jobs.filter(({ attempts, status }) => attempts > 0 && status === 'pending');
  assert.ok(back.length > 4, `${back.length} were waiting at the worker`);
  assert.ok(back.every(({ failures, interruptions }) => failures === 0 && interruptions === 0));
});

test('prefetch: a suspect starts once the jobs that run have been reported, and others only once it has been', async () => {
  const source = new ScriptedSource();
  const reported: number[][] = [];
  const started = Promise.withResolvers<void>();
  const work = async () => {
    reported.push(source.settlements.map(({ jobId }) => jobId));
    started.resolve();
    await setTimeout(50);
  };
  await using _ = new TestWorker(source, { handlers: { work } });
  const [first] = source.submit({ handler: 'work' }) as [number];
  await started.promise;
  const [suspect] = source.submit({ handler: 'work', suspect: true }) as [number];
  await source.until(() => source.claims.length === 2);
  const [last] = source.submit({ handler: 'work' }) as [number];
  await source.outcome(last);
  assert.deepEqual(reported, [[], [first], [first, suspect]]);
});

test('prefetch: a suspect neither waits for long for others, nor do they for it', async () => {
  const source = new ScriptedSource();
  const gate = Promise.withResolvers<void>();
  const handlers = { long: () => gate.promise, short: () => undefined };
  await using _ = new TestWorker(source, { handlers });
  source.submit({ handler: 'long' });
  await source.until(() => source.claims.length === 2);
  source.submit({ handler: 'long', suspect: true });
  const [last] = source.submit({ handler: 'short' }) as [number];
  assert.equal((await source.outcome(last)).type, 'succeeded');
  gate.resolve();
});

/** A worker with more jobs waiting than this has prefetched. */
const MANY = 20;

/** Runs what a killed worker left behind to its end; answers with how many jobs had waited there, and which were charged. */
async function takeOver(file: string): Promise<{ waited: number; charged: Job[] }> {
  const started = new Set((await readFile(`${file}.starts`, 'utf8')).split('\n'));
  await using workron = await open(file, { log: 'silent' });
  const ids = Array.from({ length: effort.aheadJobs }, (_, index) => String(index + 1));
  const jobs = await Promise.all(ids.map((id) => workron.job(id)));
  const charged = jobs.filter(({ failures }) => failures > 0);
  assert.deepEqual(
    charged.filter(({ id }) => !started.has(id)),
    [],
  );
  const given = jobs.filter(({ id, attempts, status }) => attempts > 0 && status === 'pending' && !started.has(id));
  for (const { id } of [...given.slice(0, 5), ...given.slice(-5)]) {
    assert.deepEqual(
      (await workron.attempts(id)).map(({ outcome }) => outcome),
      ['returned'],
    );
  }

  const again = job('work', { run: () => null });
  await workron.start({ jobs: [again], concurrency: 100 });
  await Promise.all(ids.map((id) => workron.handle(id).result({ timeout: '60s' })));
  return { waited: given.length, charged };
}

test('prefetch: kill -9 with many jobs waiting at the worker loses none, and charges none that had not started', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workron-prefetch-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'workron.db');
  await using child = Child.script(
    new URL('../kit/prefetch-worker.ts', import.meta.url),
    file,
    String(effort.aheadJobs),
  );
  assert.equal(await child.line(), 'stuck');
  await child.kill();
  const { waited, charged } = await takeOver(file);
  assert.ok(waited > MANY, `${waited} were waiting at the worker`);
  assert.equal(charged.length, 4, 'the four that a heartbeat told of are charged');
});

test('prefetch: kill -9 while the worker gives back what waits at it loses none, and charges none that had not started', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workron-prefetch-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  // On a busy machine a worker may leave before it has prefetched many jobs: such a kill does not count.
  for (let kills = 0, tries = 0; kills < effort.leaveKills; tries += 1) {
    assert.ok(tries < effort.leaveKills + 20, `${kills} of ${tries} workers had many jobs waiting`);
    const file = join(folder, `${tries}.db`);
    const script = new URL('../kit/prefetch-worker.ts', import.meta.url);
    await using child = Child.script(script, file, String(effort.aheadJobs), 'leaves');
    assert.equal(await child.line(), 'leaves');
    await setTimeout(randomInt(15));
    await child.kill();
    const { waited, charged } = await takeOver(file);
    assert.ok(charged.length <= 4, 'no more than were running');
    if (waited > MANY) kills += 1;
  }
});
