/** The client for Python, with the machine's python3, against a real server. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '../../src/client.ts';
import { first, writePair } from '../kit/certificates.ts';
import { eventually } from '../kit/eventually.ts';
import { onPath } from '../kit/on-path.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const here = import.meta.dirname;
const CLIENT = join(here, '..', '..', 'clients', 'python');
const skip = !onPath('python3') && 'python3 is not installed';

let server: Awaited<ReturnType<typeof startWorkron>>;
let client: Client;

before(async () => {
  if (skip) return;
  const lease = ['--lease', '3s', '--heartbeat', '500ms', '--reap-every', '500ms'];
  const key = ['--secrets-key-command', `echo ${randomBytes(32).toString('base64')}`];
  server = await startWorkron({ args: ['scheduler', '--port', '0', '--db-url', 'memory:', ...lease, ...key] });
  client = new Client({ url: server.url });
});
after(async () => server?.[Symbol.asyncDispose]());

const environment = () => ({ ...process.env, CLIENT, WORKRON_URL: server.url, PYTHONDONTWRITEBYTECODE: '1' });

function startWorker(env: Record<string, string> = {}) {
  const worker = spawn('python3', [join(here, 'python-worker.py')], {
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  worker.stdout.on('data', (data: Buffer) => (output += data.toString()));
  return {
    pid: worker.pid as number,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      worker.kill(signal);
      if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
      return output;
    },
  };
}

async function ended(handler: string, input: unknown, more: object = {}) {
  const { id } = await client.submit({ handler, input, backoff: { type: 'none' }, ...more });
  return client.waitJob(id, { timeout: '1m' });
}

test('python: every call of the client', { skip }, async () => {
  const worker = startWorker();
  try {
    const { stdout } = await promisify(execFile)('python3', [join(here, 'python-submit.py')], { env: environment() });
    assert.deepEqual(JSON.parse(stdout), {
      result: 6,
      attempts: [[1, 'done', null]],
      sealed: [null, true, 9],
      listed: true,
      cancelled: 'cancelled',
      failed: ['cancelled', true],
      retried: 'pending',
      timeout: true,
      gang: [0, 1, 2].map((rank) => [rank, 3, 3, true]),
      alone: null,
      several: 'a gang is several jobs: use submit_gang',
      missing: [404, 'job_not_found'],
      bad: [400, 'bad_request'],
      nobody: 'unreachable',
    });
  } finally {
    await worker.stop();
  }
});

test('python: handlers end in every way, and the worker leaves when it is told to', { skip }, async () => {
  const worker = startWorker();
  try {
    const added = await ended('add', [1, 2]);
    assert.deepEqual([added.status, added.result], ['done', 3]);
    const failed = await ended('raise', 'value', { max_attempts: 2 });
    assert.deepEqual([failed.status, failed.attempts], ['failed', 2]);
    assert.match(failed.error ?? '', /ValueError: on purpose/);
    assert.deepEqual((({ status, attempts, reason }) => [status, attempts, reason])(await ended('raise', 'fatal')), [
      'failed',
      1,
      'fatal',
    ]);
    assert.equal((await ended('raise', 'cancel')).status, 'cancelled');
    const snoozed = await ended('later', 'snooze');
    assert.deepEqual([snoozed.result, snoozed.failures, snoozed.snoozes], [2, 0, 1]);
    assert.deepEqual((({ result, failures }) => [result, failures])(await ended('later', 'retry')), [2, 1]);
    for (const key of [null, 'api']) {
      const limited = await ended('limited', key, { rates: [{ key: 'api', limit: 100, per: '1s' }] });
      assert.deepEqual([limited.result, limited.failures, limited.snoozes], [2, 0, 1]);
      const [first, second] = await Array.fromAsync(client.listAttempts(limited.id));
      const waited = Date.parse(second?.started_at ?? '') - Date.parse(first?.ended_at ?? '');
      assert.ok(waited >= 200, `the rate was closed for ${waited} ms`);
    }
    assert.equal((await ended('continue', null)).result, 7);
    for (const what of ['object', 'nan', 'cyclic']) {
      const unwritable = await ended('not-json', what, { max_attempts: 3 });
      assert.deepEqual([unwritable.status, unwritable.reason, unwritable.attempts], ['failed', 'fatal', 1], what);
      assert.match(unwritable.error ?? '', /^the result is not JSON: /);
    }
    const late = await ended('until-stopped', null, { timeout: '200ms', max_attempts: 1 });
    assert.deepEqual([late.status, late.reason], ['failed', 'timeout']);
    const deaf = await ended('deaf', 30, { timeout: '100ms', kill_grace: '100ms', max_attempts: 1 });
    assert.deepEqual([deaf.status, deaf.reason], ['failed', 'timeout']);
    const { id } = await client.submit({ handler: 'until-stopped', input: null });
    await eventually(async (saw) => saw((await client.readJob(id)).status) === 'running');
    await client.cancelJob(id);
    assert.equal((await client.waitJob(id, { timeout: '1m' })).status, 'cancelled');
  } finally {
    await worker.stop('SIGKILL');
  }
  const idle = startWorker();
  assert.equal((await ended('add', [4])).result, 4);
  assert.equal(await idle.stop(), 'left\n');
});

test('python: Fatal is not retried, whatever it is given, and carries code and details', { skip }, async () => {
  const worker = startWorker();
  try {
    const thrown: Record<string, unknown> = {};
    for (const how of ['coded', 'keyword', 'own', 'unreadable', 'nothing']) {
      const job = await ended('fatal', how, { max_attempts: 3 });
      assert.deepEqual([job.status, job.reason, job.attempts], ['failed', 'fatal', 1], how);
      thrown[how] = [job.thrown?.message, job.thrown?.code, job.thrown?.details];
    }
    assert.deepEqual(thrown, {
      coded: ['no such customer', 'unknown_customer', { customer: 7 }],
      keyword: ['no such customer', null, { customer: 7, reason: 'gone' }],
      own: ['', null, null],
      unreadable: ['no such customer', '7', null],
      nothing: ['', null, null],
    });
  } finally {
    await worker.stop();
  }
});

test('python: the values of secrets do not leave the worker, except in results', { skip }, async () => {
  const call = async (method: string, path: string, body: unknown) => {
    const reply = await fetch(server.url + path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.ok(reply.ok, await reply.text());
  };
  await call('PUT', '/secrets/password', { value: '8877665544' });
  await call('PUT', '/secrets/lines', { value: 'first of three\nsecond of three\nthird of three' });
  const env = { PASSWORD: { secret: 'password' }, LINES: { secret: 'lines' } };
  const worker = startWorker();
  try {
    const fatal = await ended('leak', 'fatal', { env, max_attempts: 1 });
    const output = new TextDecoder().decode(await client.readLogs(fatal.id));
    assert.equal(output, 'the password is ***.\n***\nend\nfirst of three\nsecond of three\n');
    assert.deepEqual([fatal.thrown?.message, fatal.thrown?.code], ['refused: ***', '***']);
    assert.deepEqual(fatal.thrown?.details, { '***': ['***', 7, '******'], n: '***' });
    assert.match(fatal.error ?? '', /Fatal: refused: \*\*\*/);
    const long = await ended('leak', 'long', { env, max_attempts: 1 });
    assert.equal(long.thrown?.message, `${'x'.repeat(990)}***`);
    const { id } = await client.submit({ handler: 'leak', input: 'snooze', env });
    const later = await eventually(async (saw) => {
      const job = saw(await client.readJob(id));
      return job.status === 'scheduled' && job;
    });
    assert.equal(later.error, 'later: ***');
    for (const job of [fatal, long, later]) assert.doesNotMatch(JSON.stringify(job), /887766/);
  } finally {
    await worker.stop();
  }
});

test('python: a suspect starts once running jobs have ended, and others only once it has', { skip }, async () => {
  const ask = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return (await reply.json()) as { worker_id: string; items: { id: string; prefetched?: boolean }[] };
  };
  const submit = async (queue: string) => (await client.submit({ handler: 'times', input: 0.5, queue })).id;
  const offer = { handlers: ['times'], queues: ['paused'], tags: [], commands: false };
  const { worker_id: lost } = await ask('/workers/register', { protocol: 1, name: 'lost', slots: 1, ...offer });
  const suspect = await submit('paused');
  const claim = { worker_id: lost, limit: 1, wait: 0, claim_seq: 1, prefetch: true, ...offer };
  assert.deepEqual(
    (await ask('/jobs/claim', claim)).items.map(({ id, prefetched }) => [id, prefetched]),
    [[suspect, true]],
  );
  await client.editQueue('paused', { paused: true });
  await eventually(async (saw) => saw((await client.readJob(suspect)).status) === 'pending');
  const worker = startWorker();
  try {
    const before = await submit('default');
    await eventually(async (saw) => saw((await client.readJob(before)).status) === 'running');
    await client.editQueue('paused', { paused: false });
    await eventually(async (saw) => saw((await client.readJob(suspect)).status) === 'running');
    const after = await submit('default');
    const ends = await Promise.all([before, suspect, after].map((id) => client.waitJob(id, { timeout: '1m' })));
    const times = ends.map(({ result }) => result as [number, number]).flat();
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  } finally {
    await worker.stop();
  }
});

test('python: a cancel reaches a handler at once, not with the next heartbeat', { skip }, async () => {
  await using slow = await startWorkron({
    args: ['scheduler', '--port', '0', '--db-url', 'memory:', '--lease', '5m', '--heartbeat', '1m'],
  });
  const worker = startWorker({ WORKRON_URL: slow.url });
  try {
    const there = new Client({ url: slow.url });
    for (const _ of [1, 2]) {
      const { id } = await there.submit({ handler: 'until-stopped', input: null });
      await eventually(async (saw) => saw((await there.readJob(id)).status) === 'running');
      await there.cancelJob(id);
      assert.equal((await there.waitJob(id, { timeout: '30s' })).status, 'cancelled');
    }
  } finally {
    await worker.stop('SIGKILL');
  }
});

test('python: a job of a killed worker is taken over by the next one', { skip }, async () => {
  const killed = startWorker();
  const { id } = await client.submit({ handler: 'until-stopped', input: null, timeout: '1h' });
  await eventually(async (saw) => saw((await client.readJob(id)).status) === 'running');
  await killed.stop('SIGKILL');
  const next = startWorker();
  try {
    await eventually(async (saw) => {
      const { status, attempts } = saw(await client.readJob(id));
      return status === 'running' && attempts === 2;
    });
    await client.cancelJob(id);
    assert.equal((await client.waitJob(id, { timeout: '1m' })).status, 'cancelled');
  } finally {
    await next.stop();
  }
});

test('python: a server with a certificate of a private authority is trusted by cafile or WORKRON_CA only', {
  skip,
}, async () => {
  await using folder = await temporaryFolder();
  const { args, cert } = writePair(folder.path, first);
  await using tls = await startWorkron({ args: ['scheduler', '--port', '0', '--db-url', 'memory:', ...args] });
  const ask = (given: string, env: Record<string, string> = {}) =>
    promisify(execFile)('python3', ['-c', `from workron import Client; print(list(Client(${given}).jobs()))`], {
      env: { ...environment(), PYTHONPATH: CLIENT, WORKRON_URL: tls.url, ...env },
    });
  assert.equal((await ask('', { WORKRON_CA: cert })).stdout, '[]\n');
  assert.equal((await ask(`cafile=${JSON.stringify(cert)}`)).stdout, '[]\n');
  await assert.rejects(ask(''), /certificate verify failed/);
});

test('python: a server on a socket is called there, unless others could replace the socket', { skip }, async () => {
  await using folder = await temporaryFolder();
  const socket = join(folder.path, 'workron.sock');
  const args = ['scheduler', '--port', '0', '--db-url', 'memory:', '--socket', socket];
  const env = { WORKRON_TOKEN: 'token-of-this-test' };
  await using _server = await startWorkron({ args, env });
  const ask = () =>
    promisify(execFile)('python3', ['-c', 'from workron import Client; print(list(Client().jobs()))'], {
      env: {
        ...environment(),
        ...env,
        PYTHONPATH: CLIENT,
        WORKRON_URL: `unix:${socket}`,
        http_proxy: 'http://127.0.0.1:9',
      },
    });
  assert.equal((await ask()).stdout, '[]\n');
  chmodSync(folder.path, 0o777);
  await assert.rejects(ask(), /Unreachable: .*other users can write to/);
});
