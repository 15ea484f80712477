/** The client for Python, with the machine's python3, against a real server. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
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

function startWorker() {
  const worker = spawn('python3', [join(here, 'python-worker.py')], {
    env: environment(),
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
  return client.wait(id, { timeout: '1m' });
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
      const [first, second] = await client.attempts(limited.id);
      const waited = Date.parse(second?.started_at ?? '') - Date.parse(first?.ended_at ?? '');
      assert.ok(waited >= 200, `the rate was closed for ${waited} ms`);
    }
    assert.equal((await ended('continue', null)).result, 7);
    assert.equal((await ended('not-json', null, { max_attempts: 1 })).status, 'failed');
    const late = await ended('until-stopped', null, { timeout: '200ms', max_attempts: 1 });
    assert.deepEqual([late.status, late.reason], ['failed', 'timeout']);
    const deaf = await ended('deaf', 30, { timeout: '100ms', kill_grace: '100ms', max_attempts: 1 });
    assert.deepEqual([deaf.status, deaf.reason], ['failed', 'timeout']);
    const { id } = await client.submit({ handler: 'until-stopped', input: null });
    await eventually(async (saw) => saw((await client.job(id)).status) === 'running');
    await client.cancel(id);
    assert.equal((await client.wait(id, { timeout: '1m' })).status, 'cancelled');
  } finally {
    await worker.stop('SIGKILL');
  }
  const idle = startWorker();
  assert.equal((await ended('add', [4])).result, 4);
  assert.equal(await idle.stop(), 'left\n');
});

test('python: a job of a killed worker is taken over by the next one', { skip }, async () => {
  const killed = startWorker();
  const { id } = await client.submit({ handler: 'until-stopped', input: null, timeout: '1h' });
  await eventually(async (saw) => saw((await client.job(id)).status) === 'running');
  await killed.stop('SIGKILL');
  const next = startWorker();
  try {
    await eventually(async (saw) => {
      const { status, attempts } = saw(await client.job(id));
      return status === 'running' && attempts === 2;
    });
    await client.cancel(id);
    assert.equal((await client.wait(id, { timeout: '1m' })).status, 'cancelled');
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
