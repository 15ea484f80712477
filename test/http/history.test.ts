import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { callWorkron } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { claimOverHttp, openTestServer, type TestServer } from '../kit/http.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { aFolder } from '../kit/sqlite.ts';

/** A job that waits for a parent, fails once, and is then stopped by a user. */
async function liveThrough(server: TestServer): Promise<{ parent: string; child: string }> {
  const { body: first } = await server.call('POST', '/jobs', { command: 'a' });
  const { body: second } = await server.call('POST', '/jobs', {
    command: 'b',
    depends_on: [first.id],
    backoff: { type: 'none' },
  });
  const parent = await claimOverHttp(server);
  await server.call('POST', `/jobs/${parent.id}/done`, { worker_id: parent.worker, attempt: 1 });
  const child = await claimOverHttp(server);
  const failure = { worker_id: child.worker, attempt: 1, exit_code: 7, error: 'exit 7\nno paper' };
  await server.call('POST', `/jobs/${child.id}/fail`, failure);
  const again = await claimOverHttp(server);
  await server.call('POST', `/jobs/${child.id}/cancel`);
  await server.call('POST', `/jobs/${child.id}/fail`, { worker_id: again.worker, attempt: 2, error: 'SIGTERM' });
  return { parent: first.id, child: second.id };
}

/** What a job's history says of those who changed it by bulk actions. */
async function changeInBulk(server: TestServer): Promise<(readonly [string, string | null])[]> {
  const { body: made } = await server.call('POST', '/tokens', { name: `ada-${randomInt(2 ** 40)}`, role: 'operator' });
  const ada = { authorization: `Bearer ${made.token}` };
  const { body: job } = await server.call('POST', '/jobs', { command: 'a', queue: made.name, delay: '1h' }, ada);
  for (const action of ['cancel', 'cancel', 'retry']) {
    const asked = await server.call('POST', '/jobs/bulk', { action, filter: { queue: made.name } }, ada);
    assert.equal(asked.status, 202);
    await eventually(async () => {
      const { body } = await server.call('GET', `/operations/${asked.body.operation.id}`);
      return body.status === 'done';
    });
  }
  const changes = (await historyOf(server, job.id)).filter(({ event }) => event === 'changed');
  assert.equal(changes[0]?.text, `cancelled by ${made.name}`);
  return changes.map(({ text, by }) => [text.split(' ', 1)[0] as string, by === made.name ? 'ada' : by] as const);
}

/** The second cancel changed nothing. */
const BULK_CHANGES = [
  ['cancelled', 'ada'],
  ['retried', 'ada'],
];

async function historyOf(server: TestServer, id: string) {
  const { status, body } = await server.call('GET', `/jobs/${id}/history`);
  assert.equal(status, 200);
  return body.items as {
    at: string;
    event: string;
    text: string;
    attempt: number | null;
    parent_id: string | null;
    by: string | null;
  }[];
}

/** The events in order. A change by a person may be at the same millisecond as another event. */
function eventsOf(items: Awaited<ReturnType<typeof historyOf>>): string[] {
  const events = items.map(({ event }) => event);
  assert.equal(events.filter((event) => event === 'changed').length, 1);
  return events.filter((event) => event !== 'changed');
}

const EVENTS = [
  'submitted',
  'parent_ended',
  'started',
  'attempt_ended',
  'started',
  'cancel_requested',
  'attempt_ended',
  'ended',
];

test('history: submission, parents, attempts, cancel and end of a job, in order', async () => {
  await using server = await openTestServer();
  const { parent, child } = await liveThrough(server);
  const all = await historyOf(server, child);
  assert.deepEqual(eventsOf(all), EVENTS);
  const items = all.filter(({ event }) => event !== 'changed');
  assert.equal(items[0]?.text, 'submitted to queue default');
  assert.deepEqual([items[1]?.parent_id, items[1]?.text], [parent, `job ${parent} ended: done`]);
  assert.deepEqual([items[3]?.attempt, items[3]?.text], [1, 'attempt 1 ended: failed (exit 7: no paper)']);
  assert.equal(items.at(-1)?.text, 'cancelled (cancelled)');
  assert.deepEqual(
    (await historyOf(server, parent)).map(({ event }) => event),
    ['submitted', 'started', 'attempt_ended', 'ended'],
  );
});

test('history: a job that was changed by a bulk action says who asked for it', async () => {
  await using server = await openTestServer();
  assert.deepEqual(await changeInBulk(server), BULK_CHANGES);
});

test('history: a job that waits has only been submitted; one that runs has started', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'a' });
  assert.deepEqual(
    (await historyOf(server, job.id)).map(({ event }) => event),
    ['submitted'],
  );
  await claimOverHttp(server);
  assert.deepEqual(
    (await historyOf(server, job.id)).map(({ event, attempt }) => [event, attempt]),
    [
      ['submitted', null],
      ['started', 1],
    ],
  );
});

test('history: unknown and malformed ids are refused', async () => {
  await using server = await openTestServer();
  assert.equal((await server.call('GET', '/jobs/99/history')).body.code, 'job_not_found');
  assert.equal((await server.call('GET', '/jobs/x/history')).body.code, 'job_not_found');
});

test('history: it is the same after a restart, and on the command line', async () => {
  await using folder = await aFolder();
  const open = () => openSqlite({ file: join(folder.path, 'w.db'), clock: systemClock, log: silentLog });
  const before = await (async () => {
    await using store = await open();
    await using server = await openTestServer({ store });
    const { child } = await liveThrough(server);
    return { child, items: await historyOf(server, child) };
  })();
  await using store = await open();
  await using server = await openTestServer({ store });
  assert.deepEqual(await historyOf(server, before.child), before.items);
  assert.deepEqual(await changeInBulk(server), BULK_CHANGES);
  const { code, stdout } = await callWorkron(['history', before.child, '--url', server.url]);
  assert.equal(code, 0);
  assert.deepEqual(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ')[1]),
    before.items.map(({ text }) => text),
  );
});

test('history: PostgreSQL has the same', async () => {
  await using opened = await openEmptiedPostgres();
  await using server = await openTestServer({ store: opened.store });
  const { child } = await liveThrough(server);
  assert.deepEqual(eventsOf(await historyOf(server, child)), EVENTS);
  assert.deepEqual(await changeInBulk(server), BULK_CHANGES);
});
