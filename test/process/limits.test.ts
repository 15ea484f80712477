/** Processes that are killed while they run jobs with limits: no place is lost, and none is given twice. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

interface Page {
  items: { id: string; status: string }[];
}

interface Limits {
  items: { key: string; running: number; waiting: number }[];
}

const MAX = 3;
const JOBS = 24;

/** How many jobs with the key run, by the jobs themselves. */
async function runningOf(url: string): Promise<number> {
  const { items } = await api<Page>(url, '/jobs?status=running&limit=200');
  assert.ok(items.length <= MAX, `${items.length} of ${MAX} run`);
  return items.length;
}

async function leaksNothing(start: () => Promise<WorkronProcess>): Promise<void> {
  await using first = await start();
  const job = { command: 'sleep 0.2', max_attempts: 100, limits: [{ key: 'k', max: MAX }] };
  await api(
    first.url,
    '/jobs',
    Array.from({ length: JOBS }, () => job),
  );
  let killed: WorkronProcess = first;
  for (let kill = 0; kill < effort.limitKills; kill += 1) {
    const { url } = killed;
    await eventually(async () => (await runningOf(url)) === MAX, { everyMs: 5 });
    killed.signal('SIGKILL');
    await killed.exited;
    killed = await start();
  }
  await using last = killed;
  await eventually(
    async () => {
      await runningOf(last.url);
      return (await api<Page>(last.url, '/jobs?status=pending,scheduled,running&limit=200')).items.length === 0;
    },
    { everyMs: 100, withinMs: 300_000 },
  );
  assert.deepEqual((await api<Limits>(last.url, '/limits')).items, []);
  const { items } = await api<Page>(last.url, '/jobs?status=done&limit=200');
  assert.equal(items.length, JOBS);
}

const quick = ['up', '--port', '0', '--workers', '8', '--lease', '2s', '--heartbeat', '300ms', '--reap-every', '300ms'];

describe('limits: kill -9 of a process that runs jobs with a limit leaks no place and exceeds nothing', {
  timeout: 600_000,
}, () => {
  test('SQLite', async () => {
    await using folder = await temporaryFolder();
    const args = [...quick, '--db-url', join(folder.path, 'jobs.db')];
    await leaksNothing(() => startWorkron({ args }));
  });

  test('PostgreSQL', async () => {
    await using postgres = await openTestPostgres();
    const args = [...quick, '--db-url', postgres.url, '--db-schema', postgres.schema];
    await leaksNothing(() => startWorkron({ args }));
  });
});
