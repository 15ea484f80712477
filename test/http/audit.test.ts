/** The audit: who changed what, when, from where, with which result. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../src/api/route.ts';
import { type RouteName, routes } from '../../src/api/routes.ts';
import { isAudited } from '../../src/http/audit.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestServer } from '../kit/http.ts';

const dying: ((reason: Error) => void)[] = [];
const ADMIN = { authorization: 'Bearer a-configured-token' };

test('audit: changes and refusals are on record with their caller, others are not', async () => {
  await using server = await openTestServer({ token: 'a-configured-token' });
  const { body: made } = await server.call('POST', '/tokens', { name: 'ada', role: 'viewer' }, ADMIN);
  const ada = { authorization: `Bearer ${made.token}` };
  const { body: job } = await server.call('POST', '/jobs', { command: 'secret-of-the-job', delay: '1h' }, ADMIN);
  await server.call('POST', `/jobs/${job.id}/cancel`, undefined, { ...ADMIN, 'x-request-id': 'mine' });
  await server.call('POST', `/jobs/${job.id}/retry`, undefined, ada);
  await server.call('POST', `/jobs/999/cancel`, undefined, ADMIN);
  await server.call('POST', `/jobs/${job.id}/cancel`);
  await server.call('GET', '/jobs', undefined, ada);
  await server.call('POST', '/workers/register', { name: 'w' }, ADMIN);

  const { body } = await server.call('GET', '/audit', undefined, ADMIN);
  const shown = body.items.map((entry: Record<string, unknown>) => [
    entry['actor'],
    entry['action'],
    entry['subject'],
    entry['result'],
  ]);
  assert.deepEqual(shown, [
    ['token', 'job.cancel', 'job/999', 'job_not_found'],
    ['ada', 'job.retry', `job/${job.id}`, 'forbidden'],
    ['token', 'job.cancel', `job/${job.id}`, 'ok'],
    ['token', 'token.create', 'token/ada', 'ok'],
  ]);
  assert.deepEqual([body.items[2].request_id, body.items[2].address], ['mine', '127.0.0.1']);
  assert.ok(!JSON.stringify(body).includes(made.token) && !JSON.stringify(body).includes('secret-of-the-job'));

  const list = async (query: string) => (await server.call('GET', `/audit?${query}`, undefined, ADMIN)).body;
  assert.equal((await list('actor=ada')).items.length, 1);
  assert.equal((await list(`subject=job/${job.id}`)).items.length, 2);
  assert.equal((await list('from=1h')).items.length, 4);
  assert.equal((await list('to=1h')).items.length, 0);
  const page = await list('limit=3');
  assert.equal((await list(`limit=3&cursor=${page.next_cursor}`)).items.length, 1);
  const exported = await fetch(`${server.url}/audit/export?actor=token`, { headers: ADMIN });
  assert.equal(exported.headers.get('content-type'), 'application/x-ndjson');
  const lines = (await exported.text()).split('\n');
  assert.deepEqual([lines.length, lines.at(-1)], [4, '']);
  assert.deepEqual(JSON.parse(lines[0] as string), body.items[0]);
  assert.equal((await server.call('GET', '/audit/export', undefined, ada)).status, 403);
  assert.equal((await server.call('GET', '/audit/export?limit=3', undefined, ADMIN)).status, 400);
  for (const bad of ['limit=0', 'from=soon', 'who=me', 'cursor=x', 'part_of=x', 'path=/jobs/1']) {
    assert.equal((await server.call('GET', `/audit?${bad}`, undefined, ADMIN)).status, 400, bad);
  }
});

test('audit: a change that cannot be recorded is not made', async () => {
  const store = openMemory({ clock: systemClock });
  const broken = { ...store, addAudit: () => Promise.reject(new Error('no space')) };
  await using server = await openTestServer({ store: broken });
  const { status, body } = await server.call('PATCH', '/queues/mail', { paused: true });
  assert.deepEqual([status, body.code], [503, 'store_unavailable']);
  assert.deepEqual((await server.call('GET', '/queues')).body.items, []);
});

test('audit: the entry is there before the change, and without a result if the process dies', async () => {
  const store = openMemory({ clock: systemClock });
  const changed = Promise.withResolvers<void>();
  const dies = new Promise<never>((_, reject) => void dying.push(reject));
  const frozen = {
    ...store,
    async setQueue(...call: Parameters<typeof store.setQueue>) {
      assert.equal((await store.audit({}, { before: null, limit: 10 }, AbortSignal.timeout(1_000))).length, 1);
      await store.setQueue(...call);
      changed.resolve();
      return await dies;
    },
  };
  await using server = await openTestServer({ store: frozen });
  const answer = server.call('PATCH', '/queues/mail', { paused: true });
  await changed.promise;
  const [entry] = (await server.call('GET', '/audit')).body.items;
  assert.deepEqual(
    [entry.action, entry.subject, entry.actor, entry.result],
    ['queue.pause', 'queue/mail', 'local', null],
  );
  for (const reject of dying) reject(new Error('gone'));
  assert.equal((await answer).status, 500);
  assert.equal((await server.call('GET', '/audit')).body.items[0].result, 'internal');
});

test('audit: the log says the same, also if the result cannot be written', async () => {
  const store = openMemory({ clock: systemClock });
  const broken = { ...store, endAudit: () => Promise.reject(new Error('no space')) };
  const logged: string[] = [];
  const line = (level: string) => (fields: object, message: string) =>
    void logged.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), child: () => log };
  await using server = await openTestServer({ store: broken, schedulerLog: log });
  assert.equal((await server.call('PATCH', '/queues/mail', { paused: true })).status, 200);
  assert.ok(logged.some((text) => /^info audit .*"queue\.pause","subject":"queue\/mail","result":"ok"/.test(text)));
  assert.ok(logged.some((text) => text.startsWith('error the result of a change was not written')));
});

test('audit: every route that changes something is on record, but submissions and the reports of workers', () => {
  const left = Object.entries(routes as Record<string, Route>)
    .filter(([name, route]) => route.method !== 'GET' && route.scope !== 'work' && !isAudited(name as RouteName))
    .map(([name]) => name);
  assert.deepEqual(left.sort(), ['createTicket', 'previewSchedule', 'submitJobs', 'submitWorkflow']);
});

const signal = AbortSignal.timeout(600_000);

test('audit: a bulk action is one line with its filter and count, and can be unfolded', async () => {
  await using server = await openTestServer();
  const commands = Array.from({ length: 3 }, () => ({ command: 'a', queue: 'mail', delay: '1h' }));
  const { body: jobs } = await server.call('POST', '/jobs', commands);
  const filter = { queue: 'mail', from: '2h', status: 'scheduled,pending' };
  await server.call('POST', '/jobs/bulk', { action: 'cancel', filter, dry_run: true });
  const { body: asked } = await server.call('POST', '/jobs/bulk', { action: 'cancel', filter });
  await eventually(async () => (await server.call('GET', `/operations/${asked.operation.id}`)).body.status === 'done');
  const { items } = (await server.call('GET', '/audit')).body;
  assert.equal(items.length, 1, 'neither its jobs nor the dry run have lines of their own');
  const [entry] = items;
  const { from, ...rest } = entry.details.filter;
  assert.deepEqual([entry.action, entry.subject, entry.result], ['jobs.cancel', null, 'ok']);
  assert.deepEqual([rest, entry.details.total], [{ queue: 'mail', status: ['scheduled', 'pending'] }, 3]);
  assert.ok(Date.now() - Date.parse(from) >= 7_200_000);
  const parts = (await server.call('GET', `/audit?part_of=${entry.id}`)).body.items;
  assert.deepEqual(
    parts.map((part: Record<string, unknown>) => [part['action'], part['subject'], part['result'], part['part_of']]),
    jobs.items.map(({ id }: { id: string }) => ['job.cancel', `job/${id}`, 'ok', entry.id]),
  );
  assert.equal((await server.call('GET', `/audit?subject=job/${jobs.items[0].id}`)).body.items.length, 1);
  const exported = await (await fetch(`${server.url}/audit/export`)).text();
  assert.equal(exported.trim().split('\n').length, 4);
});

test('audit: reruns are on record with what they made, and in the history', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'a', delay: '1h' });
  const { body: again } = await server.call('POST', `/jobs/${job.id}/rerun`);
  const { body: flow } = await server.call('POST', '/workflows', { name: 'w', steps: [{ key: 's', command: 'a' }] });
  const { body: next } = await server.call('POST', `/workflows/${flow.id}/rerun`, { from: 's' });
  const { items } = (await server.call('GET', '/audit')).body;
  assert.deepEqual(
    items.map((entry: Record<string, unknown>) => [entry['action'], entry['subject'], entry['details']]),
    [
      ['workflow.rerun', `workflow/${flow.id}`, { from: 's', made: `workflow/${next.id}` }],
      ['job.rerun', `job/${job.id}`, { made: `job/${again.id}` }],
    ],
  );
  const { body: history } = await server.call('GET', `/jobs/${job.id}/history`);
  const texts = history.items.map(({ text }: { text: string }) => text);
  assert.ok(texts.includes(`rerun as job/${again.id} by local`), texts.join('\n'));
});

test('audit: names that no store can hold are cleaned, and refused as before', async () => {
  const store = openMemory({ clock: systemClock });
  await using server = await openTestServer({ store });
  assert.equal((await server.call('PATCH', '/queues/a%00b', { paused: true })).status, 400);
  const [entry] = await store.audit({}, { before: null, limit: 1 }, signal);
  assert.deepEqual([entry?.subject, entry?.result], ['queue/a\ufffdb', 'bad_request']);
});
