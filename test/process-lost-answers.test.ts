/** A worker behind a network that loses answers and lets messages overtake each other. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type HttpProxy, startHttpProxy, startTcpProxy } from './kit/http-proxy.ts';
import { api, eventually, startWorkron, temporaryFolder, type WorkronProcess } from './kit/workron-process.ts';

/** A lease so long that it cannot be what gives a job back. */
const PATIENT = ['--lease', '10m', '--heartbeat', '200ms', '--reap-every', '1s'];

interface Job {
  id: string;
  status: string;
  attempts: number;
  failures: number;
}

async function outcomes(url: string, id: string): Promise<string[]> {
  return (await api<{ items: { outcome: string }[] }>(url, `/jobs/${id}/attempts`)).items.map(({ outcome }) => outcome);
}

async function done(url: string, id: string): Promise<Job> {
  return eventually(async () => {
    const job = await api<Job>(url, `/jobs/${id}`);
    return job.status === 'done' && job;
  });
}

interface Scene extends AsyncDisposable {
  url: string;
  proxy: HttpProxy;
  worker: WorkronProcess;
  ran: string;
}

/** A scheduler, and one worker that reaches it through a proxy. */
async function scene(judge?: HttpProxy['judge']): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const scheduler = stack.use(
    await startWorkron({ args: ['scheduler', '--port', '0', '--db-url', join(folder.path, 'jobs.db'), ...PATIENT] }),
  );
  const proxy = stack.use(await startHttpProxy(scheduler.url));
  if (judge !== undefined) proxy.judge = judge;
  const worker = stack.use(await startWorkron({ args: ['worker', '--workers', '2', '--scheduler', proxy.url] }));
  return {
    url: scheduler.url,
    proxy,
    worker,
    ran: join(folder.path, 'ran'),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function until(condition: () => boolean): Promise<void> {
  return eventually(() => condition() || undefined).then(() => undefined);
}

describe('network', { concurrency: 3 }, () => {
  test('the answer to a claim is lost: the job comes back at once, uncharged, and runs once', {
    timeout: 60_000,
  }, async () => {
    await using it = await scene();
    let lost = 0;
    const { id } = await api<Job>(it.url, '/jobs', { command: `echo $WORKRON_ATTEMPT >> ${it.ran}`, delay: '500ms' });
    it.proxy.judge = (_method, path) => {
      if (!path.startsWith('/jobs/claim') || lost > 0) return 'pass';
      lost += 1;
      return 'lose answer';
    };
    const job = await done(it.url, id);
    assert.equal(job.failures, 0);
    const record = await outcomes(it.url, id);
    assert.equal(record.at(-1), 'done');
    assert.ok(record.slice(0, -1).every((outcome) => outcome === 'returned'));
    assert.equal((await readFile(it.ran, 'utf8')).trim(), String(job.attempts));
  });

  test('heartbeats overtake the answer to a claim: the job is not given back while its answer may still come', {
    timeout: 60_000,
  }, async () => {
    await using it = await scene();
    let beats = 0;
    let held = false;
    const release = Promise.withResolvers<void>();
    it.proxy.judge = (_method, path) => {
      if (path.endsWith('/heartbeat')) beats += 1;
      if (!path.startsWith('/jobs/claim') || held) return 'pass';
      held = true;
      return release.promise;
    };
    const { id } = await api<Job>(it.url, '/jobs', { command: `echo $WORKRON_ATTEMPT >> ${it.ran}` });
    await eventually(async () => (await api<Job>(it.url, `/jobs/${id}`)).status === 'running');
    const seen = beats;
    await until(() => beats >= seen + 3);
    assert.equal((await api<Job>(it.url, `/jobs/${id}`)).status, 'running');
    release.resolve();
    const job = await done(it.url, id);
    assert.deepEqual([job.attempts, await outcomes(it.url, id)], [1, ['done']]);
  });

  test('the answer to a settle is lost: it is said again and accepted once', { timeout: 60_000 }, async () => {
    await using it = await scene();
    let settles = 0;
    it.proxy.judge = (_method, path) => {
      if (!path.includes('/settle')) return 'pass';
      settles += 1;
      return settles === 1 ? 'lose answer' : 'pass';
    };
    const { id } = await api<Job>(it.url, '/jobs', { command: `echo $WORKRON_ATTEMPT >> ${it.ran}` });
    const job = await done(it.url, id);
    await until(() => settles >= 2);
    assert.deepEqual([job.attempts, await outcomes(it.url, id)], [1, ['done']]);
    assert.equal((await readFile(it.ran, 'utf8')).trim(), '1');
  });

  test('heartbeats overtake the answer to a settle: the worker goes on undisturbed', { timeout: 60_000 }, async () => {
    await using it = await scene();
    let beats = 0;
    let held = false;
    const release = Promise.withResolvers<void>();
    it.proxy.judge = (_method, path) => {
      if (path.endsWith('/heartbeat')) beats += 1;
      if (!path.includes('/settle') || held) return 'pass';
      held = true;
      return release.promise;
    };
    const { id } = await api<Job>(it.url, '/jobs', { command: `echo $WORKRON_ATTEMPT >> ${it.ran}` });
    await done(it.url, id);
    const seen = beats;
    await until(() => beats >= seen + 3);
    release.resolve();
    const { id: next } = await api<Job>(it.url, '/jobs', { command: 'true' });
    const second = await done(it.url, next);
    assert.equal(second.attempts, 1);
    assert.deepEqual(await outcomes(it.url, id), ['done']);
  });

  test('half-open sockets to the scheduler: the worker notices and recovers', { timeout: 120_000 }, async () => {
    await using folder = await temporaryFolder();
    await using scheduler = await startWorkron({
      args: [
        'scheduler',
        '--port',
        '0',
        '--db-url',
        join(folder.path, 'jobs.db'),
        '--lease',
        '10m',
        '--heartbeat',
        '500ms',
      ],
    });
    await using proxy = await startTcpProxy(Number(new URL(scheduler.url).port));
    await using _worker = await startWorkron({ args: ['worker', '--scheduler', `http://127.0.0.1:${proxy.port}`] });
    const { id: before } = await api<Job>(scheduler.url, '/jobs', { command: 'true' });
    await done(scheduler.url, before);
    proxy.freeze();
    const { id } = await api<Job>(scheduler.url, '/jobs', { command: 'true' });
    proxy.thaw();
    const job = await done(scheduler.url, id);
    assert.equal(job.failures, 0);
  });
});
