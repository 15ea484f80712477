/** Steps over HTTP: as a worker writes them, and as they are read. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Step } from '../../src/api/step.ts';
import { job, open } from '../../src/index.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

/** A worker that knows of steps, and the job that it has claimed. */
async function claimed(server: TestServer, more: object = {}) {
  const { body: submitted } = await server.call('POST', '/jobs', { handler: 'h', ...more });
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w', handlers: ['h'] });
  const claim = (extra: object = {}) =>
    server.call('POST', '/jobs/claim', { worker_id: worker.worker_id, handlers: ['h'], steps: true, ...extra });
  const { body } = await claim();
  assert.equal(body.items[0]?.id, submitted.id);
  const lease = { job_id: submitted.id as string, attempt: 1 };
  const write = (body: object) => server.call('POST', `/workers/${worker.worker_id}/steps`, body);
  const settle = (outcome: object) =>
    server.call('POST', `/workers/${worker.worker_id}/settle`, { items: [{ ...lease, outcome }] });
  return { id: submitted.id as string, lease, claim, write, settle, first: body.items[0] };
}

test('steps over HTTP: a job without steps has no field of them, and one with steps brings them with its claim', async () => {
  await using server = await openTestServer();
  const { id, lease, claim, write, settle, first } = await claimed(server, { backoff: { type: 'none' } });
  assert.equal('steps' in first, false);
  const before = (await server.call('GET', `/jobs/${id}`)).body;
  assert.deepEqual(
    ['steps', 'suspended', 'steps_unused'].filter((field) => field in before),
    [],
  );
  const { body } = await write({ items: [{ ...lease, name: 'charge', kind: 'step', result: { id: 7 }, took: 5 }] });
  assert.deepEqual(Step.parse(body.items[0].step).result, { id: 7 });
  await settle({ type: 'failed', error: 'crash' });
  const [again] = (await claim()).body.items;
  assert.deepEqual(
    [again.attempt, again.steps.next, again.steps.items.map(({ name, result }: Step) => [name, result])],
    [2, null, [['charge', { id: 7 }]]],
  );
  const read = { job_id: id, attempt: 2, after: 0 };
  assert.equal((await write({ read })).body.read.items.length, 1);
  assert.equal((await write({ read: { ...read, attempt: 1 } })).body.code, 'lease_lost');
  const late = await write({ items: [{ ...lease, name: 'late', kind: 'step' }] });
  assert.deepEqual(late.body.items, [{ refused: 'lease_lost' }]);
});

test('steps over HTTP: a suspended job says since when and what for, and goes on when its sleep is over', async () => {
  await using server = await openTestServer();
  const { id, lease, claim, write, settle } = await claimed(server);
  await write({ items: [{ ...lease, name: 'nap', kind: 'sleep', wait: '1h' }] });
  const { body } = await settle({ type: 'suspended', awaits: ['nap'] });
  assert.equal(body.items[0].result, 'ok');
  assert.equal((await settle({ type: 'suspended', awaits: ['nap'] })).body.items[0].result, 'ok', 'the same again');
  const job = (await server.call('GET', `/jobs/${id}`)).body;
  assert.deepEqual(
    [job.status, job.steps, job.waiting.code, job.waiting.waits[0].name],
    ['scheduled', 1, 'steps', 'nap'],
  );
  assert.equal(job.suspended.until, job.run_at);
  const steps = (await server.call('GET', `/jobs/${id}/steps`)).body;
  assert.deepEqual([steps.items[0].until, steps.items[0].ended_at, steps.next], [job.run_at, null, null]);
  assert.equal((await claim()).body.items.length, 0);
  const edit = await server.call('PATCH', `/jobs/${id}`, { delay: '1s' });
  assert.equal(edit.status, 409);
  assert.match(edit.body.detail, /it has steps/);
  assert.equal((await server.call('POST', `/jobs/${id}/cancel`)).body.status, 'cancelled');
});

test('steps over HTTP: a worker that does not know of steps is not given a job that has some', async () => {
  await using server = await openTestServer();
  const { id, lease, claim, write, settle } = await claimed(server, { backoff: { type: 'none' } });
  await write({ items: [{ ...lease, name: 'a', kind: 'step' }] });
  await settle({ type: 'failed', error: 'crash' });
  assert.deepEqual((await claim({ steps: false })).body.items, []);
  const job = (await server.call('GET', `/jobs/${id}`)).body;
  assert.deepEqual([job.status, job.snoozes], ['scheduled', 1]);
});

test('steps over HTTP: what is malformed is refused with its place', async () => {
  await using server = await openTestServer();
  const { lease, write, settle } = await claimed(server);
  const step = { ...lease, name: 'a', kind: 'step' };
  for (const [pointer, item] of [
    ['/items/0/name', { ...step, name: '' }],
    ['/items/0/name', { ...step, name: 'x'.repeat(257) }],
    ['/items/0/name', { ...step, name: 'a\nb' }],
    ['/items/0/kind', { ...step, kind: 'nap' }],
    ['/items/0/wait', { ...step, wait: 'soon' }],
    ['/items/0/tries', { ...step, tries: -1 }],
    ['/items/0/job_id', { ...step, job_id: 'x' }],
  ] as const) {
    const { status, body } = await write({ items: [item] });
    assert.deepEqual([status, body.errors?.[0]?.pointer], [400, pointer]);
  }
  const { body } = await write({ items: [{ ...step, result: 'x'.repeat(1024 * 1024) }] });
  assert.deepEqual(body.items, [{ refused: 'too_large' }]);
  assert.equal((await settle({ type: 'suspended', awaits: [] })).body.items[0].result, 'invalid');
  assert.equal((await server.call('GET', '/jobs/999/steps')).status, 404);
});

test('steps: results of a job with a sealed input are sealed, and its function reads them', async () => {
  const secret = 'a very secret result';
  const type = job('sealing', {
    sealInput: true,
    backoff: { type: 'none' },
    async run(_: string, { step, attempt }) {
      const value = await step('a', () => secret);
      if (attempt === 1) throw new Error('again');
      return value.length;
    },
  });
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'jobs.db');
  const workron = await open(path, { secretsKey: randomBytes(32).toString('base64'), log: 'silent' });
  await workron.start({ jobs: [type] });
  const handle = await workron.submit(type, 'input');
  assert.equal(await handle.result(), secret.length);
  await workron.stop();
  using database = new DatabaseSync(path, { readOnly: true });
  const stored = database.prepare('select result from step').get() as { result: string };
  assert.match(stored.result, /^sealed:/);
  assert.ok(!stored.result.includes(secret));
});

test('steps: the values of secrets are masked in results that are read, also once a secret is deleted', async () => {
  const type = job('masking', {
    run: async (_: null, { step }) => void (await step('a', () => ({ found: 'it is hunter2-hunter2' }))),
  });
  await using workron = await open('memory:', { secretsKey: randomBytes(32).toString('base64'), log: 'silent' });
  await workron.api.setSecret('password', { value: 'hunter2-hunter2' });
  await workron.start({ jobs: [type] });
  const submitted = await workron.api.submitJobs([{ handler: 'masking', env: { PASSWORD: { secret: 'password' } } }]);
  const [{ id } = assert.fail()] = (submitted as { items: { id: string }[] }).items;
  assert.equal((await workron.api.waitJob(id, { timeout: '60s' })).status, 'done');
  const seen = async () => JSON.stringify((await workron.api.listSteps(id)).items);
  assert.match(await seen(), /"result":.*\*\*\*/);
  assert.doesNotMatch(await seen(), /hunter2/);
  await workron.api.deleteSecret('password');
  assert.doesNotMatch(await seen(), /hunter2/);
});
