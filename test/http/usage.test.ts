/** What an attempt has used, as it arrives over HTTP and is shown. */

import assert from 'node:assert/strict';
import { isBuiltin } from 'node:module';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';

const USED = { cpu_ms: 1_500, max_rss_bytes: 2 ** 31 };

test('usage: settle, done and fail take it, and the attempt shows it', async () => {
  await using server = await openTestServer();
  const shown = async (report: (claim: Awaited<ReturnType<typeof claimOverHttp>>) => Promise<unknown>) => {
    await server.call('POST', '/jobs', { command: 'a', max_attempts: 1 });
    const claim = await claimOverHttp(server);
    await report(claim);
    const { body } = await server.call('GET', `/jobs/${claim.id}/attempts`);
    return body.items[0].usage;
  };
  const settle = (item: object) =>
    shown(async ({ worker, id, attempt }) => {
      const items = [{ job_id: id, attempt, ...item }];
      const { body } = await server.call('POST', `/workers/${worker}/settle`, { items });
      assert.equal(body.items[0].result, 'ok');
    });
  const end = (how: 'done' | 'fail', usage?: object) =>
    shown(({ worker, id, attempt }) =>
      server.call('POST', `/jobs/${id}/${how}`, { worker_id: worker, attempt, usage }),
    );
  assert.deepEqual(await settle({ outcome: { type: 'succeeded' }, usage: USED }), USED);
  assert.deepEqual(await settle({ outcome: { type: 'failed' }, usage: { cpu_ms: 0 } }), {
    cpu_ms: 0,
    max_rss_bytes: null,
  });
  assert.equal(await settle({ outcome: { type: 'timed_out' } }), null);
  assert.deepEqual(await end('done', USED), USED);
  assert.deepEqual(await end('fail', USED), USED);
  assert.equal(await end('done'), null);
});

test('usage: a malformed one is refused', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a' });
  const { worker, id, attempt } = await claimOverHttp(server);
  for (const usage of [
    { cpu_ms: -1 },
    { cpu_ms: 1.5 },
    { max_rss_bytes: 1 },
    { cpu_ms: 1, max_rss_bytes: 2 ** 60 },
    7,
  ]) {
    const { status } = await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt, usage });
    assert.equal(status, 400, JSON.stringify(usage));
    const items = [{ job_id: id, attempt, outcome: { type: 'succeeded' }, usage }];
    const { body } = await server.call('POST', `/workers/${worker}/settle`, { items });
    assert.equal(body.items[0].result, 'invalid');
  }
});

test('usage: a worker over HTTP reports that of its commands', {
  skip: !isBuiltin('node:ffi') && 'this Node cannot call the C library',
}, async () => {
  await using server = await openTestServer();
  const workron = await open(server.url, { log: 'silent' });
  try {
    await workron.start({ commands: true });
    const { body } = await server.call('POST', '/jobs', { command: 'head -c 150M /dev/zero | tail -n 1 | wc -c' });
    await server.call('GET', `/jobs/${body.id}/wait?timeout=60s`);
    const { items } = (await server.call('GET', `/jobs/${body.id}/attempts`)).body;
    assert.equal(items[0].outcome, 'done');
    assert.ok(items[0].usage.cpu_ms > 0);
    assert.ok(items[0].usage.max_rss_bytes > 150 * 2 ** 20);
  } finally {
    await workron.stop();
  }
});
