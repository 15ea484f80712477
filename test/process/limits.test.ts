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

interface Attempts {
  items: { started_at: string; outcome: string }[];
}

const RATE = { key: 'api', limit: 6, per: 1_000, burst: 2 };

/** When the attempts of these jobs started, by the clock of the store, in order. */
async function startsOf(url: string, ids: readonly string[]): Promise<number[]> {
  const starts: number[] = [];
  for (const id of ids) {
    const { items } = await api<Attempts>(url, `/jobs/${id}/attempts`);
    const begun = items.filter(({ outcome }) => outcome !== 'returned');
    starts.push(...begun.map(({ started_at }) => Date.parse(started_at)));
  }
  return starts.sort((a, b) => a - b);
}

test('rates: several schedulers on PostgreSQL that are killed start no more in any window than the rate allows', {
  timeout: 600_000,
}, async () => {
  await using postgres = await openTestPostgres();
  const args = [...quick, '--db-url', postgres.url, '--db-schema', postgres.schema];
  await using steady = await startWorkron({ args });
  const job = { command: 'true', max_attempts: 100, rates: [RATE] };
  const { items } = await api<Page>(
    steady.url,
    '/jobs',
    Array.from({ length: effort.ratedJobs }, () => job),
  );
  const ids = items.map(({ id }) => id);
  const left = async () => {
    const page = await api<Page>(steady.url, '/jobs?status=pending,scheduled,running&limit=200');
    return page.items.length;
  };
  for (let before = await left(); before > 0; before = await left()) {
    await using other = await startWorkron({ args });
    // Both of them start jobs for a while.
    await eventually(async () => (await left()) <= Math.max(0, before - 8), { everyMs: 50, withinMs: effort.waitMs });
    other.signal('SIGKILL');
    await other.exited;
  }
  const starts = await startsOf(steady.url, ids);
  assert.ok(starts.length >= ids.length, `${starts.length} attempts of ${ids.length} jobs`);
  const most = RATE.limit + RATE.burst;
  for (const [place, at] of starts.entries()) {
    const next = starts[place + most] ?? Infinity;
    assert.ok(next >= at + RATE.per, `${most + 1} attempts started within ${next - at} ms`);
  }
});
