/** A scheduler on SQLite that is killed: every job is there when it comes back. */

import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

interface Listed {
  items: { id: string; status: string }[];
  next_cursor: string | null;
}

async function all(url: string): Promise<Map<string, string>> {
  const jobs = new Map<string, string>();
  let cursor: string | null = null;
  do {
    const page: Listed = await api<Listed>(url, `/jobs?limit=200${cursor === null ? '' : `&cursor=${cursor}`}`);
    for (const { id, status } of page.items) jobs.set(id, status);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return jobs;
}

test('kill -9 of the scheduler with jobs in all states, restart: every job is there', {
  timeout: 180_000,
}, async () => {
  await using folder = await temporaryFolder();
  const args = ['up', '--port', '0', '--workers', '4', '--db-url', join(folder.path, 'jobs.db')];
  await using first = await startWorkron({ args });
  const fifth = effort.killedJobs / 5;
  const bodies = Array.from({ length: effort.killedJobs }, (_, index) => {
    if (index < fifth) return { command: 'true' };
    if (index < 2 * fifth) return { command: 'false', max_attempts: 1 };
    if (index < 3 * fifth) return { command: 'true', delay: '1h' };
    if (index < 4 * fifth) return { command: 'true', queue: 'paused' };
    return { command: 'true', delay: '1h', name: 'to-cancel' };
  });
  await api(first.url, '/queues/paused', { paused: true }, 'PATCH');
  await api(first.url, '/jobs', bodies);
  await api(first.url, '/jobs/bulk', { action: 'cancel', filter: { name: 'to-cancel' } });
  const count = (jobs: Map<string, string>, status: string) =>
    [...jobs.values()].filter((other) => other === status).length;
  await eventually(
    async () => {
      const jobs = await all(first.url);
      return count(jobs, 'done') + count(jobs, 'failed') === 2 * fifth && count(jobs, 'cancelled') === fifth;
    },
    { everyMs: 300 },
  );
  const { id: running } = await api<{ id: string }>(first.url, '/jobs', {
    command: `touch ${folder.path}/on; [ $WORKRON_ATTEMPT -gt 1 ] || sleep 300`,
  });
  await eventually(() =>
    stat(join(folder.path, 'on')).then(
      () => true,
      () => undefined,
    ),
  );
  const before = await all(first.url);
  first.signal('SIGKILL');
  await first.exited;

  await using again = await startWorkron({ args });
  const after = await eventually(async () => {
    const jobs = await all(again.url);
    return jobs.get(running) === 'done' && jobs;
  });
  before.set(running, 'done');
  assert.deepEqual(after, before);
});
