import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestServer } from '../kit/http.ts';

const KEY = { 'idempotency-key': 'order-7' };

test('the same key and body again: the first answer, nothing new', async () => {
  await using server = await openTestServer();
  const first = await server.call('POST', '/jobs', { command: 'a' }, KEY);
  const second = await server.call('POST', '/jobs', { command: 'a' }, KEY);
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.equal(second.body.id, first.body.id);
  assert.equal(first.headers.get('idempotent-replayed'), null);
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
  assert.equal((await server.call('GET', '/jobs')).body.items.length, 1);
});

test('arrays and concurrent twins: one set of jobs', async () => {
  await using server = await openTestServer();
  const jobs = [{ command: 'a' }, { command: 'b' }];
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.call('POST', '/jobs', jobs, KEY)));
  const ids = answers.map((answer) => answer.body.items.map((job: { id: string }) => job.id).join());
  assert.equal(new Set(ids).size, 1);
  assert.equal(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null).length, 1);
  assert.equal((await server.call('GET', '/jobs')).body.items.length, 2);
});

test('the same key for another body is 422, and stores nothing', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a' }, KEY);
  const { status, body } = await server.call('POST', '/jobs', { command: 'b' }, KEY);
  assert.deepEqual([status, body.code], [422, 'idempotency_mismatch']);
  assert.equal((await server.call('GET', '/jobs')).body.items.length, 1);
});

test('a refused submit leaves its key unused', async () => {
  await using server = await openTestServer();
  assert.equal((await server.call('POST', '/jobs', { command: '' }, KEY)).status, 400);
  assert.equal((await server.call('POST', '/jobs', { command: 'a' }, KEY)).status, 201);
});

test('keys that cannot be one are refused', async () => {
  await using server = await openTestServer();
  for (const key of ['a b', 'x'.repeat(256), '']) {
    const { status } = await server.call('POST', '/jobs', { command: 'a' }, { 'idempotency-key': key });
    assert.equal(status, 400, JSON.stringify(key));
  }
});
