/** Every operation of the API through the library, wherever its jobs live. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientRoutes } from '../../src/api/client-routes.ts';
import { type ApiCalls, isWorkronError, job } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import type { TestLibrary } from './exercise-library.ts';

const HOUR = 3_600_000;
const sum = job('sum', {
  async run(input: { n: number }, { log, step }) {
    log('adding');
    return { total_of: await step('add', () => input.n + 1) };
  },
});

/** The same calls; each is noted in `called`. */
function noting(api: ApiCalls, called: Set<string>): ApiCalls {
  return new Proxy(api, {
    get: (calls, name: keyof ApiCalls) => {
      called.add(name);
      return calls[name];
    },
  });
}

/** A server may or may not have a key for secrets. */
async function orNoKey<T>(call: Promise<T>): Promise<T | undefined> {
  return await call.catch((error: unknown) => {
    if (isWorkronError(error, 'no_secrets_key')) return undefined;
    throw error;
  });
}

export function exerciseApi(open: () => Promise<TestLibrary>): void {
  test('the library does what the API does, in camelCase', async () => {
    await using it = await open();
    const called = new Set<string>();
    const api = noting(it.workron.api, called);
    await it.workron.start({ jobs: [sum], commands: true });
    await exerciseJobs(api);
    await exerciseWorkflows(api);
    await exerciseDefinitions(api);
    await exerciseSchedules(api);
    await exerciseCapacity(api);
    await exerciseAccess(api);
    await exerciseInstallation(api);
    assert.deepEqual(
      Object.keys(clientRoutes).filter((name) => !called.has(name)),
      [],
      'operations that were not called',
    );
  });

  test('refusals name the fields as they were given', async () => {
    await using it = await open();
    const { api } = it.workron;
    await assert.rejects(api.editJob('1', { maxAttempts: -1 }), (error) => {
      assert.ok(isWorkronError(error, 'bad_request'));
      assert.match(error.message, /^maxAttempts: /);
      return true;
    });
    await assert.rejects(api.readJob('999'), { code: 'job_not_found' });
    await assert.rejects(Array.fromAsync(api.listJobs({ limit: 0 })), { code: 'bad_request' });
    await assert.rejects(api.listJobs({ cursor: 'x' }), { code: 'bad_request' });
  });
}

async function exerciseJobs(api: ApiCalls): Promise<void> {
  const unique = { key: 'k', onConflict: 'reject' } as const;
  const made = await api.submitJobs([
    { handler: 'sum', input: { n_of: 0, n: 1 }, maxAttempts: 1 },
    { command: 'true', queue: 'later', delay: '1h', unique },
    { command: 'true', queue: 'later', delay: '1h', tags: ['t'] },
    { command: 'true', queue: 'later', delay: '1h' },
  ]);
  const [first = '', keyed = '', tagged = ''] = (made as { items: { id: string }[] }).items.map(({ id }) => id);
  const ended = await api.waitJob(first, { timeout: '60s' });
  assert.deepEqual([ended.status, ended.maxAttempts, ended.result], ['done', 1, { total_of: 2 }]);
  assert.deepEqual((await api.readJob(first)).input, { n_of: 0, n: 1 });
  assert.equal((await api.listAttempts(first)).items[0]?.outcome, 'done');
  const [step] = (await api.listSteps(first)).items;
  assert.deepEqual([step?.name, step?.result, typeof step?.startedAt], ['add', 2, 'string']);
  assert.ok((await Array.fromAsync(api.listHistory(first))).length > 2);
  assert.match(new TextDecoder().decode(await api.readLogs(first)), /adding/);
  const followed = await Array.fromAsync(api.followLogs(first));
  const last = followed.at(-1);
  assert.equal(last?.type === 'end' && last.job.maxAttempts, 1);
  await assert.rejects(api.readCheckpoint(first), { code: 'not_found' });

  const page = await api.listJobs({ queue: 'later', limit: 2 });
  assert.deepEqual([page.items.length, typeof page.nextCursor], [2, 'string']);
  const later = await Array.fromAsync(api.listJobs({ queue: 'later', limit: 2 }), ({ id }) => id);
  assert.equal(later.length, 3, 'all pages');
  const found = await Array.fromAsync(api.listJobs({ uniqueKey: 'k', status: 'scheduled' }));
  assert.deepEqual(
    found.map(({ id }) => id),
    [keyed],
  );
  assert.equal(
    (await api.editJob(tagged, { maxAttempts: 7, runAt: new Date(Date.now() + HOUR).toISOString() })).maxAttempts,
    7,
  );
  const { operation } = await api.bulkJobs({ action: 'cancel', filter: { uniqueKey: 'k' } });
  await eventually(async () => (await api.readOperation(operation?.id ?? '')).status === 'done');
  assert.equal((await api.readJob(keyed)).status, 'cancelled');
  assert.equal((await api.retryJob(keyed)).status, 'pending');
  const trial = await api.bulkJobs({ action: 'cancel', filter: { tag: ['t'] }, dryRun: true });
  assert.deepEqual([trial.total, trial.operation], [1, null]);
  assert.equal((await api.cancelJob(tagged, { cascade: 'none' })).status, 'cancelled');
  assert.equal((await api.deleteJob(tagged)).id, tagged);
  const again = await api.rerunJob(first, { idempotencyKey: 'again' });
  assert.equal((await api.rerunJob(first, { idempotencyKey: 'again' })).id, again.id);
  assert.equal(again.rerunOf, first);
}

async function exerciseWorkflows(api: ApiCalls): Promise<void> {
  const steps = [
    { key: 'a', handler: 'sum', input: { n: 1 }, maxAttempts: 1 },
    { key: 'b', command: 'exit 1', dependsOn: ['a'], maxAttempts: 1 },
  ];
  const { id } = await api.submitWorkflow({ name: 'flow', params: { some_key: 1 }, steps }, { idempotencyKey: 'w' });
  assert.equal(
    (await api.submitWorkflow({ name: 'flow', params: { some_key: 1 }, steps, idempotencyKey: 'w' })).id,
    id,
  );
  await eventually(async () => (await api.readWorkflow(id)).status === 'failed');
  const read = await api.readWorkflow(id);
  assert.deepEqual([read.params, read.steps.map(({ dependsOn }) => dependsOn.length)], [{ some_key: 1 }, [0, 1]]);
  assert.equal((await Array.fromAsync(api.listWorkflows({ name: 'flow' })))[0]?.id, id);
  assert.equal((await api.retryWorkflow(id)).status, 'running');
  await eventually(async () => (await api.readWorkflow(id)).status === 'failed');
  const again = await api.rerunWorkflow(id, { from: 'b' });
  assert.equal(again.rerunOf, id);
  await api.cancelWorkflow(again.id).catch(() => undefined);
  await eventually(async () => (await api.readWorkflow(again.id)).endedAt !== null);
  assert.equal((await api.deleteWorkflow(id)).id, id);
}

async function exerciseDefinitions(api: ApiCalls): Promise<void> {
  const source =
    'name: stored\nparams:\n  day: { required: true }\nsteps:\n  only:\n    command: "echo {{ params.day }}"\n';
  assert.equal((await api.applyDefinition('stored', { source })).changed, true);
  assert.deepEqual(await Array.fromAsync(api.listDefinitions(), ({ name }) => name), ['stored']);
  assert.equal((await api.readDefinition('stored')).version, 1);
  assert.equal((await api.readDefinitionSource('stored')).source, source);
  const run = await api.runDefinition('stored', { params: { day: 'today' } });
  await eventually(async () => (await api.readWorkflow(run.id)).status === 'done');
  assert.equal((await api.deleteDefinition('stored')).name, 'stored');
}

async function exerciseSchedules(api: ApiCalls): Promise<void> {
  const target = { command: 'true', maxAttempts: 2 };
  const hourly = await api.createSchedule({ name: 'hourly', every: '1h', overlap: 'allow', job: target });
  assert.equal(hourly.job?.maxAttempts, 2);
  await api.putSchedule('hourly', { every: '2h', overlap: 'allow', job: target });
  assert.equal((await api.editSchedule('hourly', { every: '1h' })).every, HOUR);
  assert.equal((await api.pauseSchedule('hourly', { note: 'why' })).pausedNote, 'why');
  assert.equal((await api.resumeSchedule('hourly')).pausedAt, null);
  assert.equal((await api.readSchedule('hourly')).lastStatus, null);
  assert.deepEqual(await Array.fromAsync(api.listSchedules(), ({ name }) => name), ['hourly']);
  assert.equal((await api.runSchedule('hourly')).items.length, 1);
  const to = new Date(Math.floor(Date.now() / HOUR) * HOUR);
  const range = { from: new Date(to.getTime() - 2 * HOUR).toISOString(), to: to.toISOString() };
  const filled = await api.backfillSchedule('hourly', { ...range, dryRun: true });
  assert.deepEqual([filled.dryRun, filled.missing.length], [true, 2]);
  assert.equal((await api.listNextTicks('hourly', { count: 3 })).items.length, 3);
  assert.equal((await api.listTicks('hourly', { kind: 'manual' })).items[0]?.kind, 'manual');
  assert.ok((await api.previewSchedule({ cron: '0 2 * * *' })).items.length > 0);
  const applied = await api.applySchedules({ owner: 'me', schedules: [], dryRun: true });
  assert.equal(applied.dryRun, true);
  assert.ok((await api.readTimeline({ from: '1h' })).schedules.length >= 0);
  assert.equal((await api.deleteSchedule('hourly')).name, 'hourly');
}

async function exerciseCapacity(api: ApiCalls): Promise<void> {
  const queue = await api.editQueue('mail', { paused: true, maxRunning: 3 });
  assert.deepEqual([queue.paused, queue.maxRunning], [true, 3]);
  assert.ok((await Array.fromAsync(api.listQueues(), ({ name }) => name)).includes('mail'));
  await api.deleteQueue('mail');
  assert.equal((await api.setLimit('tenant', { max: 2 })).max, 2);
  assert.equal((await api.listLimits()).items[0]?.key, 'tenant');
  await api.deleteLimit('tenant');
  assert.deepEqual((await api.listRates()).items, []);
  const [worker] = await Array.fromAsync(api.listWorkers());
  assert.ok(worker && (await api.undrainWorker(worker.id)).lastHeartbeat !== undefined);
  await assert.rejects(api.drainWorker('99999'), { code: 'worker_not_found' });
}

async function exerciseAccess(api: ApiCalls): Promise<void> {
  const token = await api.createToken({ name: 'ci', role: 'submitter', queues: ['builds'] });
  assert.equal(typeof token.createdAt, 'string');
  assert.equal((await api.rotateToken('ci', { overlap: '1h' })).name, 'ci');
  assert.equal((await Array.fromAsync(api.listTokens())).length, 2);
  assert.equal((await api.revokeToken('ci')).revoked, 2);
  const secret = await orNoKey(api.setSecret('s', { value: 'hush-hush' }));
  assert.equal((await api.listSecrets()).items.length, secret === undefined ? 0 : 1);
  await orNoKey(api.rotateSecrets());
  if (secret !== undefined) await api.deleteSecret('s');
  else await assert.rejects(api.deleteSecret('s'));
  const audit = await Array.fromAsync(api.listAudit({ limit: 1 }));
  const exported = new TextDecoder().decode(await api.exportAudit());
  assert.ok(exported.split('\n').length > audit.length, 'the jobs of bulk actions are exported too');
}

async function exerciseInstallation(api: ApiCalls): Promise<void> {
  assert.equal((await api.readHealth()).status, 'ok');
  assert.equal(typeof (await api.readReady()).ready, 'boolean');
  assert.ok((await api.readCluster()).instances.length >= 0);
  assert.ok((await api.readStats({ from: '1h' })).totals.done >= 0);
  assert.ok((await api.listFailures({ from: '1h' })).items.length >= 0);
  assert.ok((await api.readDoctor()).items.length > 0);
  assert.deepEqual((await api.listNotifyTargets()).items, []);
  const told = await api.testNotify({ notify: [{ on: ['failed'], command: 'true' }] });
  assert.equal((await api.waitJob(told.items[0]?.jobId ?? '', { timeout: '60s' })).status, 'done');
  assert.ok(new TextDecoder().decode(await api.readMetrics()).includes('workron_'));
  assert.ok('paths' in (await api.readDocument()));
  assert.equal(typeof (await api.readRoot()), 'object');

  const ended = new AbortController();
  let seen: string | undefined;
  for await (const event of api.streamEvents({ signal: ended.signal })) {
    if (event.topic !== 'jobs') {
      await api.submitJobs({ command: 'true', delay: '1h' });
      continue;
    }
    seen = event.id;
    break;
  }
  await api.submitJobs({ command: 'true', delay: '1h' });
  for await (const event of api.streamEvents({ ...(seen !== undefined && { after: seen }), signal: ended.signal })) {
    assert.notEqual(event.topic, 'reset', 'it goes on where it was');
    if (event.topic === 'jobs') break;
  }
  ended.abort();
}
