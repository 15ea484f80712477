import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkronError } from '../../src/core/error.ts';
import { NEVER } from '../../src/core/never.ts';
import { ConcurrencyLimit } from '../../src/http/concurrency-limit.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openTestServer } from '../kit/http.ts';

test('limits: one caller cannot take all seats for streams', () => {
  const limit = new ConcurrencyLimit(8);
  const mine = [limit.take('10.0.0.1'), limit.take('10.0.0.1')];
  assert.throws(() => limit.take('10.0.0.1'), { code: 'overloaded' });
  using _other = limit.take('10.0.0.2');
  mine[0]?.[Symbol.dispose]();
  mine[0]?.[Symbol.dispose]();
  using _again = limit.take('10.0.0.1');
  assert.throws(() => limit.take('10.0.0.1'), { code: 'overloaded' });
});

test('limits: who waits for jobs to end leaves seats to workers that wait for jobs', async () => {
  await using server = await openTestServer({ maxPolls: 4 });
  const { body: job } = await server.call('POST', '/jobs', { command: 'true', queue: 'slow' });
  const hungUp = new AbortController();
  const wait = (timeout: string) =>
    fetch(`${server.url}/jobs/${job.id}/wait?timeout=${timeout}`, { signal: hungUp.signal });
  const waits = Array.from({ length: 8 }, () => wait('10m').then(({ status }) => status));
  assert.equal(await Promise.race(waits), 503, 'one caller has a quarter of them');
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  assert.equal((await server.call('POST', '/jobs/claim', { worker_id: worker.worker_id })).status, 200);
  hungUp.abort();
  await Promise.allSettled(waits);
});

test('limits: workers are listed in pages, and the client reads all of them', async () => {
  await using server = await openTestServer();
  for (let n = 0; n < 5; n += 1) await server.call('POST', '/workers/register', { name: `w${n}` });
  const first = (await server.call('GET', '/workers?limit=2')).body;
  assert.deepEqual(
    [first.items.map(({ name }: { name: string }) => name), typeof first.next_cursor],
    [['w0', 'w1'], 'string'],
  );
  const rest = (await server.call('GET', `/workers?limit=3&cursor=${first.next_cursor}`)).body;
  assert.deepEqual([rest.items.length, rest.next_cursor], [3, null]);
  assert.equal((await server.call('GET', '/workers?cursor=nonsense')).status, 400);
});

test('limits: there are at most 10,000 workers, and one that goes offline makes room', async () => {
  await using server = await openTestServer();
  const { body: registered } = await server.call('POST', '/workers/register', { name: 'first' });
  const first = await server.scheduler.workers(NEVER);
  const { id, ...worker } = first[0] as (typeof first)[number];
  for (let n = 1; n < 10_000; n += 1) await server.scheduler.register(worker, NEVER);
  const refused = await server.call('POST', '/workers/register', { name: 'one too many' });
  assert.deepEqual([refused.status, refused.body.code], [503, 'overloaded']);
  const seen = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/workers?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page: { items: { id: string }[]; next_cursor: string | null } = (await server.call('GET', path)).body;
    assert.ok(page.items.length <= 200);
    for (const item of page.items) seen.add(item.id);
    cursor = page.next_cursor;
  }
  assert.equal(seen.size, 10_000, 'each of them is on one page');
  assert.equal((await server.call('POST', `/workers/${id}/leave`)).status, 200);
  assert.equal((await server.call('POST', '/workers/register', { name: 'the next' })).status, 201);
  assert.equal(registered.worker_id, String(id));
});

test('limits: a bulk operation on every job needs a word for it', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'true' });
  const refused = await server.call('POST', '/jobs/bulk', { action: 'cancel', filter: {} });
  assert.deepEqual([refused.status, refused.body.errors[0].pointer], [400, '/filter']);
  assert.equal((await server.call('GET', `/jobs/${job.id}`)).body.status, 'pending');
  assert.equal(
    (await server.call('POST', '/jobs/bulk', { action: 'cancel', filter: {}, dry_run: true })).body.total,
    1,
  );
  assert.equal((await server.call('POST', '/jobs/bulk', { action: 'cancel', filter: {}, all: true })).status, 202);
});

test('limits: names do not turn the direction of text', async () => {
  await using server = await openTestServer();
  for (const name of ['safe\u202egpj.exe', 'a\u2066b']) {
    assert.equal((await server.call('POST', '/jobs', { command: 'true', name })).status, 400);
    assert.equal((await server.call('POST', '/jobs', { command: 'true', queue: name })).status, 400);
  }
  assert.equal((await server.call('POST', '/jobs', { command: 'true', name: 'שלום' })).status, 201);
});

test('limits: who asks for readiness is not told where the database is', async () => {
  const memory = openMemory({ clock: systemClock });
  const failing = (error: WorkronError): Store =>
    Object.assign(Object.create(memory) as Store, { checkWritable: () => Promise.reject(error) });
  const secret = 'postgres://db.internal:5432/shop';
  for (const [code, said] of [
    ['store_unavailable', 'the store does not answer'],
    ['store_full', 'the disk of the store is full'],
  ] as const) {
    await using server = await openTestServer({ store: failing(new WorkronError(code, `No answer from ${secret}`)) });
    const { status, body } = await server.call('GET', '/ready');
    assert.deepEqual([status, body], [503, { ready: false, problems: [said] }]);
  }
});
