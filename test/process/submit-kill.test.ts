/** A process that is killed while it takes jobs and hands them, in the same commit, to its own idle worker. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

interface Job {
  id: string;
  status: string;
  attempts: number;
}

/** More than the kills that one job can meet, so that none is used up by them. */
const body = { command: 'true', max_attempts: 100 };

/** Submits one job after another, to a worker that is idle each time, until the process is gone; answers with those acknowledged. */
async function submitUntilGone(url: string, acknowledged: string[]): Promise<void> {
  for (;;) {
    const job = await api<Job>(url, '/jobs', body).catch(() => undefined);
    if (job === undefined) return;
    acknowledged.push(job.id);
    // Half of the time the worker is through with it before the next one comes.
    if (randomInt(2) === 0) await api(url, `/jobs/${job.id}/wait?timeout=200ms`).catch(() => undefined);
  }
}

async function survivesKills(args: readonly string[]): Promise<void> {
  const acknowledged: string[] = [];
  const start = (): Promise<WorkronProcess> => startWorkron({ args });
  for (let kill = 0; kill < effort.submitKills; kill += 1) {
    await using up = await start();
    const before = acknowledged.length;
    const submitting = submitUntilGone(up.url, acknowledged);
    const many = before + randomInt(1, 20);
    await eventually(() => acknowledged.length >= many, { everyMs: 1 });
    await setTimeout(randomInt(8));
    up.signal('SIGKILL');
    await up.exited;
    await submitting;
  }

  await using last = await start();
  for (const id of acknowledged) {
    const job = await endOf(last.url, id);
    assert.equal(job.status, 'done');
    const { items } = await api<{ items: { attempt: number; outcome: string }[] }>(last.url, `/jobs/${id}/attempts`);
    const outcomes = items.map(({ outcome }) => outcome);
    assert.deepEqual(
      outcomes.filter((outcome) => outcome === 'done'),
      ['done'],
      `job ${id}: ${outcomes.join(', ')}`,
    );
    assert.equal(job.attempts, items.length, 'every claim is on record');
  }
  // What was stored but not acknowledged ends, too.
  const { items } = await api<{ items: Job[] }>(last.url, '/jobs?status=pending,scheduled,running&limit=200');
  for (const { id } of items) assert.equal((await endOf(last.url, id)).status, 'done');
}

/** As it is after a minute at the latest: whatever takes jobs back is through by then. */
async function endOf(url: string, id: string): Promise<Job> {
  for (let look = 1; ; look += 1) {
    const job = await api<Job>(url, `/jobs/${id}/wait?timeout=5s`);
    if (!['pending', 'scheduled', 'running'].includes(job.status) || look === 12) return job;
  }
}

const quick = ['up', '--port', '0', '--workers', '2', '--lease', '2s', '--heartbeat', '300ms', '--reap-every', '300ms'];

describe('kill -9 while a client submits to an idle worker of the same process: what was acknowledged is there, and ends once', {
  timeout: 600_000,
  concurrency: 2,
}, () => {
  test('SQLite', async () => {
    await using folder = await temporaryFolder();
    await survivesKills([...quick, '--db-url', join(folder.path, 'jobs.db')]);
  });

  test('PostgreSQL', async () => {
    await using postgres = await openTestPostgres();
    await survivesKills([...quick, '--db-url', postgres.url, '--db-schema', postgres.schema]);
  });
});
