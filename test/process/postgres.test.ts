/** Workers attached to a PostgreSQL that is restarted, cut off, or outlives them. */

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { startTcpProxy } from '../kit/http-proxy.ts';
import { loadFactor } from '../kit/load-factor.ts';
import { openTestPostgres, startPostgres } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

interface Job {
  id: string;
  status: string;
  attempts: number;
  failures: number;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function ended(url: string, id: string): Promise<Job> {
  return eventually(
    async () => {
      const job = await api<Job>(url, `/jobs/${id}`).catch(() => undefined);
      return job !== undefined && ['done', 'failed'].includes(job.status) && job;
    },
    { everyMs: 200 },
  );
}

describe('PostgreSQL', { concurrency: 3 }, () => {
  test('PostgreSQL restarted under load, with direct workers on long jobs: nothing acknowledged is lost, nothing runs twice', {
    timeout: 240_000,
  }, async () => {
    await using folder = await temporaryFolder();
    await using postgres = await startPostgres({ durable: true });
    const db = ['--db-url', postgres.url];
    await using scheduler = await startWorkron({ args: ['scheduler', '--port', '0', ...db] });
    const { url } = scheduler;
    await using _a = await startWorkron({ args: ['worker', '--workers', '4', ...db] });
    await using _b = await startWorkron({ args: ['worker', '--workers', '4', ...db] });
    const long = await Promise.all(
      Array.from({ length: 4 }, () =>
        api<Job>(url, '/jobs', { command: `echo on >> ${folder.path}/$WORKRON_JOB_ID; sleep 20`, priority: 5 }),
      ),
    );
    for (const { id } of long) await eventually(() => exists(join(folder.path, id)));

    const acknowledged: string[] = [];
    const load = new AbortController();
    const submitting = (async () => {
      while (!load.signal.aborted) {
        const job = await api<Job>(url, '/jobs', { command: 'true' }).catch(() => undefined);
        if (job !== undefined) acknowledged.push(job.id);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await eventually(() => acknowledged.length > 20);
    await postgres.restart('immediate');
    const before = acknowledged.length;
    await eventually(() => acknowledged.length > before + 20);
    load.abort();
    await submitting;

    for (const id of acknowledged) assert.equal((await ended(url, id)).status, 'done');
    for (const { id } of long) {
      const job = await ended(url, id);
      assert.deepEqual([job.status, job.attempts], ['done', 1]);
      assert.equal(await readFile(join(folder.path, id), 'utf8'), 'on\n');
    }
  });

  test('a direct worker that is killed is noticed by its free lock, long before its lease ends', {
    timeout: 120_000,
  }, async () => {
    await using folder = await temporaryFolder();
    await using place = await openTestPostgres();
    const db = ['--db-url', place.url, '--db-schema', place.schema, '--lease', '10m'];
    await using scheduler = await startWorkron({ args: ['scheduler', '--port', '0', ...db] });
    await using first = await startWorkron({ args: ['worker', ...db] });
    const { id } = await api<Job>(scheduler.url, '/jobs', {
      command: `touch ${folder.path}/on; [ $WORKRON_ATTEMPT -gt 1 ] || sleep 300`,
    });
    await eventually(() => exists(join(folder.path, 'on')));
    await using _second = await startWorkron({ args: ['worker', ...db] });
    first.signal('SIGKILL');
    const job = await ended(scheduler.url, id);
    assert.deepEqual([job.status, job.attempts, job.failures], ['done', 2, 1]);
  });

  test('a database clock that is set past the lease, forward and back, costs no running job its attempt', {
    timeout: 300_000,
  }, async () => {
    // A worker that is not heard for two thirds of a lease stops its commands.
    const factor = Math.round(loadFactor());
    await using folder = await temporaryFolder();
    await using place = await openTestPostgres();
    const db = ['--db-url', place.url, '--db-schema', place.schema, '--lease', `${3 * factor}s`, '--heartbeat', '1s'];
    const reap = ['--reap-every', '300ms'];
    await using scheduler = await startWorkron({ args: ['scheduler', '--port', '0', ...db, ...reap] });
    const { url } = scheduler;
    await using _a = await startWorkron({ args: ['worker', '--workers', '4', ...db] });
    await using _b = await startWorkron({ args: ['worker', '--workers', '4', ...db] });
    const set = (ms: number) =>
      place.query(`update "${place.schema}".meta set clock_offset_ms = clock_offset_ms + $1`, [ms]);
    const longer = `sleep ${4 * factor}`;
    // The reaper has watched the store for a lease by then.
    assert.equal((await ended(url, (await api<Job>(url, '/jobs', { command: longer })).id)).status, 'done');
    for (const ms of [5_000, 45_000, 3_600_000, -600_000]) {
      const held = `cd ${folder.path}; exec 9>>lock.$WORKRON_JOB_ID; flock -n 9 || touch overlap; touch on.$WORKRON_JOB_ID`;
      const jobs = await Promise.all(
        Array.from({ length: 4 }, () => api<Job>(url, '/jobs', { command: `${held}; ${longer}` })),
      );
      for (const { id } of jobs) await eventually(() => exists(join(folder.path, `on.${id}`)));
      await set(ms);
      for (const { id } of jobs) {
        const { status, attempts } = await ended(url, id);
        assert.deepEqual([status, attempts], ['done', 1], `set by ${ms} ms`);
      }
    }
    assert.equal(await exists(join(folder.path, 'overlap')), false);
  });

  test('half-open sockets to the database: every loop recovers', { timeout: 120_000 }, async () => {
    await using place = await openTestPostgres();
    const direct = new URL(place.url);
    await using proxy = await startTcpProxy(Number(direct.port));
    direct.host = `127.0.0.1:${proxy.port}`;
    const db = ['--db-url', direct.href, '--db-schema', place.schema];
    await using up = await startWorkron({ args: ['up', '--port', '0', ...db] });
    const { id: before } = await api<Job>(up.url, '/jobs', { command: 'true' });
    assert.equal((await ended(up.url, before)).status, 'done');
    proxy.freeze();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    proxy.thaw();
    const after = await eventually(
      () => api<Job>(up.url, '/jobs', { command: 'true', delay: '100ms' }).catch(() => undefined),
      { everyMs: 500 },
    );
    assert.equal((await ended(up.url, after.id)).status, 'done');
    assert.equal((await fetch(`${up.url}/ready`)).status, 200);
  });
});
