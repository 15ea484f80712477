/** Remote workers that are killed, frozen or cut off, with real processes. */

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const QUICK = ['--heartbeat', '300ms', '--reap-every', '300ms'];

interface WireJob {
  id: string;
  status: string;
  attempts: number;
  failures: number;
  worker_id: string | null;
  reason: string | null;
}

interface WireAttempt {
  attempt: number;
  worker_id: string;
  outcome: string;
}

async function startScheduler(folder: string, { lease = '3s', port = '0' } = {}): Promise<WorkronProcess> {
  const args = ['scheduler', '--port', port, '--db-url', join(folder, 'jobs.db'), '--lease', lease, ...QUICK];
  return startWorkron({ args });
}

async function startWorker(url: string, more: string[] = []): Promise<WorkronProcess> {
  return startWorkron({ args: ['worker', '--scheduler', url, ...more] });
}

/** For tests that neither restart it nor keep it busy; each has a queue of its own. */
let url: string;
const shared = new AsyncDisposableStack();
before(async () => {
  const folder = shared.use(await temporaryFolder());
  url = shared.use(await startScheduler(folder.path)).url;
});
after(() => shared.disposeAsync());

function job(url: string, id: string): Promise<WireJob> {
  return api<WireJob>(url, `/jobs/${id}`);
}

async function ended(url: string, id: string): Promise<WireJob> {
  return eventually(async () => {
    const found = await job(url, id);
    return ['done', 'failed', 'cancelled'].includes(found.status) && found;
  });
}

async function attempts(url: string, id: string): Promise<WireAttempt[]> {
  return (await api<{ items: WireAttempt[] }>(url, `/jobs/${id}/attempts`)).items;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Holds a lock for as long as any process of its tree lives; the second attempt sees whether the first one's is gone. */
function lockHolding(folder: string): string {
  return [
    `cd ${folder}`,
    'exec 9>lock',
    'flock -n 9 || echo overlap >> overlap',
    'echo started > started.$WORKRON_ATTEMPT',
    'if [ $WORKRON_ATTEMPT = 1 ]; then sleep 300 & sleep 300; fi',
    'echo finished',
  ].join('; ');
}

describe('workers', { concurrency: 2 }, () => {
  test('three workers share the jobs: each runs in exactly one attempt', { timeout: 300_000 }, async () => {
    await using folder = await temporaryFolder();
    await using scheduler = await startScheduler(folder.path);
    const { url } = scheduler;
    await using _a = await startWorker(url, ['--workers', '4']);
    await using _b = await startWorker(url, ['--workers', '4']);
    await using _c = await startWorker(url, ['--workers', '4']);
    for (const count of [5, effort.sharedJobs]) {
      const { items } = await api<{ items: WireJob[] }>(
        url,
        '/jobs',
        Array.from({ length: count }, () => ({ command: `echo $WORKRON_JOB_ID >> ${folder.path}/ran` })),
      );
      const last = items.at(-1) as WireJob;
      await eventually(
        async () => (await api<{ items: unknown[] }>(url, '/jobs?status=pending,running&limit=1')).items.length === 0,
        { everyMs: 200 },
      );
      assert.equal((await job(url, last.id)).status, 'done');
      const ran = (await readFile(join(folder.path, 'ran'), 'utf8')).trim().split('\n');
      assert.equal(new Set(ran).size, ran.length, 'no job ran twice');
      for (const { id } of items) assert.ok(ran.includes(id), `job ${id} ran`);
    }
  });

  test('kill -9 of a worker: its command is gone before the second attempt starts elsewhere, and late reports are refused', {
    timeout: 120_000,
  }, async () => {
    await using folder = await temporaryFolder();
    await using first = await startWorker(url, ['--workers', '1', '--queues', 'killed']);
    const { id } = await api<WireJob>(url, '/jobs', { command: lockHolding(folder.path), queue: 'killed' });
    await eventually(() => exists(join(folder.path, 'started.1')));
    const { worker_id: firstWorker } = await job(url, id);
    await using _second = await startWorker(url, ['--workers', '1', '--queues', 'killed']);
    first.signal('SIGKILL');

    const end = await ended(url, id);
    assert.equal(end.status, 'done');
    assert.equal(end.attempts, 2);
    assert.equal(await exists(join(folder.path, 'overlap')), false);
    const record = await attempts(url, id);
    assert.deepEqual(
      record.map(({ outcome }) => outcome),
      ['lost', 'done'],
    );
    const late = await fetch(`${url}/jobs/${id}/done`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ worker_id: firstWorker, attempt: 1 }),
    });
    assert.equal(late.status, 409);
    assert.equal(((await late.json()) as { code: string }).code, 'lease_lost');
  });

  test('SIGSTOP of a worker: its command is gone before the second attempt starts elsewhere, and what it says on waking changes nothing', {
    timeout: 120_000,
  }, async () => {
    await using folder = await temporaryFolder();
    await using first = await startWorker(url, ['--workers', '1', '--queues', 'stopped']);
    const { id } = await api<WireJob>(url, '/jobs', {
      command: lockHolding(folder.path),
      kill_grace: '500ms',
      queue: 'stopped',
    });
    await eventually(() => exists(join(folder.path, 'started.1')));
    await using _second = await startWorker(url, ['--workers', '1', '--queues', 'stopped']);
    first.signal('SIGSTOP');

    const end = await ended(url, id);
    first.signal('SIGCONT');
    assert.equal(end.status, 'done');
    assert.equal(end.attempts, 2);
    assert.equal(await exists(join(folder.path, 'overlap')), false);
    const { id: next } = await api<WireJob>(url, '/jobs', { command: 'echo next', queue: 'stopped' });
    await ended(url, next);
    const after = await job(url, id);
    assert.deepEqual([after.status, after.attempts, after.failures], ['done', 2, end.failures]);
  });

  test('a scheduler restarted within the lease: remote jobs go on in one attempt', { timeout: 120_000 }, async () => {
    await using folder = await temporaryFolder();
    const lease = '20s';
    await using scheduler = await startScheduler(folder.path, { lease });
    const { url } = scheduler;
    await using _worker = await startWorker(url);
    const { id } = await api<WireJob>(url, '/jobs', {
      command: `echo on >> ${folder.path}/on; sleep 4; echo off >> ${folder.path}/on`,
    });
    await eventually(() => exists(join(folder.path, 'on')));
    scheduler.signal('SIGKILL');
    await scheduler.exited;
    await using again = await startScheduler(folder.path, { lease, port: new URL(url).port });

    const end = await ended(again.url, id);
    assert.deepEqual([end.status, end.attempts, end.failures], ['done', 1, 0]);
    assert.equal(await readFile(join(folder.path, 'on'), 'utf8'), 'on\noff\n');
  });

  test('a worker that is drained from afar finishes what it has and leaves', { timeout: effort.waitMs }, async () => {
    await using folder = await temporaryFolder();
    await using worker = await startWorker(url, ['--workers', '1', '--queues', 'drained']);
    const { id } = await api<WireJob>(url, '/jobs', {
      command: `echo on > ${folder.path}/on; sleep 1`,
      queue: 'drained',
    });
    await eventually(() => exists(join(folder.path, 'on')));
    const { worker_id } = await job(url, id);
    await api(url, `/workers/${worker_id}/drain`, {});

    assert.equal(await worker.exited, 0);
    assert.equal((await job(url, id)).status, 'done');
  });

  test('a drained worker does not take the API of its process with it, and works again when it is brought back', {
    timeout: effort.waitMs,
  }, async () => {
    await using up = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:'] });
    const workers = () => api<{ items: { id: string; state: string }[] }>(up.url, '/workers');
    const [worker] = await eventually(async () => {
      const { items } = await workers();
      return items.length > 0 && items;
    });
    await api(up.url, `/workers/${worker?.id}/drain`, {});
    await eventually(async () => (await workers()).items[0]?.state === 'draining');
    const { id, status } = await api<{ id: string; status: string }>(up.url, '/jobs', { command: 'true' });
    assert.equal(status, 'pending');
    await api(up.url, `/workers/${worker?.id}/undrain`, {});
    await eventually(async () => (await job(up.url, id)).status === 'done');
  });
});
