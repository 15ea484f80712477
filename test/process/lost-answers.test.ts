/** A worker behind a network that loses answers and lets messages overtake each other. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { type HttpProxy, startHttpProxy, startTcpProxy } from '../kit/http-proxy.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

/** A lease so long that it cannot be what gives a job back. */
const PATIENT = ['--lease', '10m', '--heartbeat', '200ms', '--reap-every', '1s'];

const shared = new AsyncDisposableStack();
let folder: string;
let scheduler: WorkronProcess;

before(async () => {
  folder = shared.use(await temporaryFolder()).path;
  const args = ['scheduler', '--port', '0', '--db-url', join(folder, 'jobs.db'), ...PATIENT];
  scheduler = shared.use(await startWorkron({ args }));
});
after(() => shared.disposeAsync());

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
  ran: string;
  /** A job for the scene's own worker. */
  submit(command: string, fields?: Record<string, unknown>): Promise<Job>;
}

/** A queue with one worker, which reaches the scheduler through a proxy. */
async function scene(queue: string): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  const { url } = scheduler;
  const proxy = stack.use(await startHttpProxy(url));
  const args = ['worker', '--workers', '2', '--queues', queue, '--scheduler', proxy.url];
  stack.use(await startWorkron({ args }));
  return {
    url,
    proxy,
    ran: join(folder, queue),
    submit: (command, fields) => api<Job>(url, '/jobs', { command, queue, ...fields }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function until(condition: () => boolean): Promise<void> {
  return eventually(() => condition() || undefined).then(() => undefined);
}

describe('network', { concurrency: 3 }, () => {
  test('the answer to a claim is lost: the job comes back at once, uncharged, and runs once', {
    timeout: effort.waitMs,
  }, async () => {
    await using it = await scene('claim-lost');
    let lost = 0;
    const { id } = await it.submit(`echo $WORKRON_ATTEMPT >> ${it.ran}`, { delay: '500ms' });
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
    timeout: effort.waitMs,
  }, async () => {
    await using it = await scene('claim-late');
    let beats = 0;
    let held = false;
    const release = Promise.withResolvers<void>();
    it.proxy.judge = (_method, path) => {
      if (path.endsWith('/heartbeat')) beats += 1;
      if (!path.startsWith('/jobs/claim') || held) return 'pass';
      held = true;
      return release.promise;
    };
    const { id } = await it.submit(`echo $WORKRON_ATTEMPT >> ${it.ran}`);
    await eventually(async () => (await api<Job>(it.url, `/jobs/${id}`)).status === 'running');
    const seen = beats;
    await until(() => beats >= seen + 3);
    assert.equal((await api<Job>(it.url, `/jobs/${id}`)).status, 'running');
    release.resolve();
    const job = await done(it.url, id);
    assert.deepEqual([job.attempts, await outcomes(it.url, id)], [1, ['done']]);
  });

  test('the answer to a settle is lost: it is said again and accepted once', { timeout: effort.waitMs }, async () => {
    await using it = await scene('settle-lost');
    let settles = 0;
    it.proxy.judge = (_method, path) => {
      if (!path.includes('/settle')) return 'pass';
      settles += 1;
      return settles === 1 ? 'lose answer' : 'pass';
    };
    const { id } = await it.submit(`echo $WORKRON_ATTEMPT >> ${it.ran}`);
    const job = await done(it.url, id);
    await until(() => settles >= 2);
    assert.deepEqual([job.attempts, await outcomes(it.url, id)], [1, ['done']]);
    assert.equal((await readFile(it.ran, 'utf8')).trim(), '1');
  });

  test('heartbeats overtake the answer to a settle: the worker goes on undisturbed', {
    timeout: effort.waitMs,
  }, async () => {
    await using it = await scene('settle-late');
    let beats = 0;
    let held = false;
    const release = Promise.withResolvers<void>();
    it.proxy.judge = (_method, path) => {
      if (path.endsWith('/heartbeat')) beats += 1;
      if (!path.includes('/settle') || held) return 'pass';
      held = true;
      return release.promise;
    };
    const { id } = await it.submit(`echo $WORKRON_ATTEMPT >> ${it.ran}`);
    await done(it.url, id);
    const seen = beats;
    await until(() => beats >= seen + 3);
    release.resolve();
    const { id: next } = await it.submit('true');
    const second = await done(it.url, next);
    assert.equal(second.attempts, 1);
    assert.deepEqual(await outcomes(it.url, id), ['done']);
  });

  test('half-open sockets to the scheduler: the worker notices and recovers', { timeout: 120_000 }, async () => {
    await using proxy = await startTcpProxy(Number(new URL(scheduler.url).port));
    await using _worker = await startWorkron({
      args: ['worker', '--queues', 'half-open', '--scheduler', `http://127.0.0.1:${proxy.port}`],
    });
    const job = { command: 'true', queue: 'half-open' };
    const { id: first } = await api<Job>(scheduler.url, '/jobs', job);
    await done(scheduler.url, first);
    proxy.freeze();
    const { id } = await api<Job>(scheduler.url, '/jobs', job);
    proxy.thaw();
    const { failures } = await done(scheduler.url, id);
    assert.equal(failures, 0);
  });
});
