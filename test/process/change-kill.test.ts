/** A process that is killed between the entry of the audit and its change, while it deletes jobs, and while it runs commands. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { callWorkron } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const WAITING = 40;
const ENDED = 20;
const BULK = 600;
/** An entry without a result is seen in nearly every round. */
const MAX_ROUNDS = 10;
const CALLERS = 10;

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
interface Entry {
  action: string;
  subject: string;
  actor: string;
  result: string | null;
}
interface Attempt {
  outcome: string;
  usage: { cpu_ms: number; max_rss_bytes: number | null } | null;
}

const cancelled = (id: string) => `job.cancel job/${id}`;
const deleted = (id: string) => `job.delete job/${id}`;

const statusOf = async (url: string, path: string, method = 'GET') => (await fetch(`${url}${path}`, { method })).status;

async function submit(url: string, count: number, fields: object): Promise<string[]> {
  const jobs = Array.from({ length: count }, () => ({ command: 'echo said', ...fields }));
  return (await api<Page<{ id: string }>>(url, '/jobs', jobs)).items.map(({ id }) => id);
}

async function entriesOf(url: string): Promise<Map<string, Entry[]>> {
  const entries = new Map<string, Entry[]>();
  let cursor: string | null = null;
  do {
    const after = cursor === null ? '' : `&cursor=${cursor}`;
    const page: Page<Entry> = await api(url, `/audit?limit=200&subject=job/${after}`);
    for (const entry of page.items) {
      const decision = `${entry.action} ${entry.subject}`;
      entries.set(decision, [...(entries.get(decision) ?? []), entry]);
    }
    cursor = page.next_cursor;
  } while (cursor !== null);
  return entries;
}

/** Cancels and deletes until the process is gone. Notes each answer by its path. */
async function changeUntilGone(url: string, calls: (readonly [method: string, path: string])[]) {
  const answered = new Map<string, string>();
  const call = async () => {
    for (let next = calls.pop(); next !== undefined; next = calls.pop()) {
      const [method, path] = next;
      const status = await statusOf(url, path, method).catch(() => undefined);
      if (status === undefined) return;
      const id = path.split('/')[2] as string;
      answered.set(method === 'DELETE' ? deleted(id) : cancelled(id), status === 200 ? 'ok' : String(status));
    }
  };
  return { answered, gone: Promise.all(Array.from({ length: CALLERS }, call)) };
}

/** Returns true if an entry without a result was left. */
async function round(args: readonly string[]): Promise<boolean> {
  const line = longSleep();
  let waiting: string[];
  let ended: string[];
  let bulk: string[];
  let answered: Map<string, string>;
  {
    await using up = await startWorkron({ args });
    const { url } = up;
    waiting = await submit(url, WAITING, { delay: '1h', queue: 'waiting' });
    bulk = await submit(url, BULK, { delay: '1h', queue: 'bulk' });
    ended = await submit(url, ENDED, {});
    for (const id of ended) await api(url, `/jobs/${id}/wait?timeout=60s`);
    await api(url, '/jobs', { command: `setsid ${line} & ${line}` });
    await untilAlive(line, 2);
    await api(url, '/jobs/bulk', { action: 'cancel', filter: { queue: 'bulk' } });
    const calls = [
      ...waiting.map((id) => ['POST', `/jobs/${id}/cancel`] as const),
      ...ended.map((id) => ['DELETE', `/jobs/${id}`] as const),
    ].sort(() => randomInt(3) - 1);
    const changing = await changeUntilGone(url, calls);
    const many = randomInt(5, WAITING);
    await eventually(() => changing.answered.size >= many, { everyMs: 1 });
    up.signal('SIGKILL');
    await up.exited;
    await changing.gone;
    answered = changing.answered;
  }
  await using up = await startWorkron({ args });
  const { url } = up;
  assert.deepEqual(pidsOf(line), [], 'commands of the killed process are gone');
  const entries = await entriesOf(url);
  for (const [decision, result] of answered) {
    assert.deepEqual(
      entries.get(decision)?.map((entry) => entry.result),
      [result],
      `${decision} was answered`,
    );
  }
  for (const id of waiting) {
    const job = await api<{ status: string }>(url, `/jobs/${id}`);
    const [entry] = entries.get(cancelled(id)) ?? [];
    if (job.status === 'cancelled') assert.ok(entry !== undefined, `job ${id}: cancelled with an entry`);
    if (entry?.result === 'ok') assert.equal(job.status, 'cancelled');
    assert.ok(['cancelled', 'scheduled'].includes(job.status));
  }
  for (const id of ended) await isWholeOrGone(url, id, entries.get(deleted(id)) ?? []);
  await bulkEnded(url, bulk);
  // The bulk action goes on, and its entries get their results.
  const decisions = [...waiting.map(cancelled), ...ended.map(deleted)];
  const unknown = decisions.find((decision) => entries.get(decision)?.[0]?.result === null);
  if (unknown === undefined) return false;
  const subject = unknown.split(' ')[1] as string;
  // The filter takes a part of the subject: job/5 also finds job/50, and there are more of these than a list shows at first.
  const { stdout } = await callWorkron(['audit', '--subject', subject, '--limit', '1000', '--url', url]);
  assert.match(stdout, new RegExp(` ${subject} +unknown$`, 'm'));
  return true;
}

async function isWholeOrGone(url: string, id: string, [entry]: readonly Entry[]): Promise<void> {
  const parts = ['', '/attempts', '/logs', '/history'];
  const statuses = new Set(await Promise.all(parts.map((part) => statusOf(url, `/jobs/${id}${part}`))));
  assert.equal(statuses.size, 1, `job ${id} is there with all its parts, or with none: ${[...statuses].join(', ')}`);
  if (statuses.has(404)) return assert.ok(entry !== undefined, `job ${id}: deleted with an entry`);
  assert.notEqual(entry?.result, 'ok');
  const { items } = await api<Page<Attempt>>(url, `/jobs/${id}/attempts`);
  assert.deepEqual(
    items.map(({ outcome }) => outcome),
    ['done'],
  );
  const usage = items[0]?.usage;
  if (usage) assert.ok(usage.cpu_ms >= 0 && usage.max_rss_bytes !== undefined);
}

/** The operation goes on after the restart, and every job of it says who asked. */
async function bulkEnded(url: string, ids: readonly string[]): Promise<void> {
  const left = () => api<Page<unknown>>(url, '/jobs?queue=bulk&status=scheduled&limit=1');
  await eventually(async () => (await left()).items.length === 0);
  const entries = await entriesOf(url);
  for (const id of ids) {
    const found = (entries.get(cancelled(id)) ?? []).filter(({ result }) => result === null || result === 'ok');
    assert.ok(found.length > 0 && found.every(({ actor }) => actor === found[0]?.actor), `job ${id}`);
  }
  const { items } = await api<Page<{ event: string; by: string | null }>>(
    url,
    `/jobs/${ids[randomInt(ids.length)]}/history`,
  );
  assert.ok(items.some(({ event, by }) => event === 'changed' && by !== null));
}

async function survivesKills(args: readonly string[]): Promise<void> {
  let unknown = false;
  for (let rounds = 0; rounds < MAX_ROUNDS && !unknown; rounds += 1) unknown = await round(args);
  assert.ok(unknown, 'no process was killed between an entry and its result');
}

const as = process.getuid?.() === 0 ? ['--run-as', 'nobody'] : [];
const quick = [
  'up',
  '--port',
  '0',
  '--workers',
  '4',
  '--lease',
  '2s',
  '--heartbeat',
  '300ms',
  '--reap-every',
  '300ms',
  ...as,
];

describe('kill -9 during changes: the audit says unknown where it is, nothing is half done, and commands are gone', {
  timeout: 600_000,
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
