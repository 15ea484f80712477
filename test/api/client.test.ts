import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { Client } from '../../src/api/client.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';

test('the client does all that the API does', async () => {
  await using server = await openTestServer();
  const client = new Client({ url: `${server.url}/` });
  const job = await client.submit({ command: 'a', delay: '1h', tags: ['t'] }, { idempotencyKey: 'k' });
  assert.equal((await client.submit({ command: 'a', delay: '1h', tags: ['t'] }, { idempotencyKey: 'k' })).id, job.id);
  assert.equal((await client.submitAll([{ command: 'b' }, { command: 'c' }])).length, 2);
  assert.equal((await client.readJob(job.id)).status, 'scheduled');
  const page = await client.listJobs({ status: ['scheduled', 'pending'], tag: ['t'], limit: 1 });
  assert.deepEqual([page.items[0]?.id, page.next_cursor], [job.id, null]);
  assert.equal((await client.editJob(job.id, { priority: 7 })).priority, 7);
  assert.equal((await client.cancelJob(job.id)).status, 'cancelled');
  assert.equal((await client.retryJob(job.id)).status, 'pending');
  const { id, worker, attempt } = await claimOverHttp(server);
  await server.call('POST', `/jobs/${id}/logs?worker_id=${worker}&attempt=1&offset=0`, 'hi\n');
  await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt });
  assert.equal((await client.waitJob(id, { timeout: '10s' })).status, 'done');
  assert.equal(new TextDecoder().decode(await client.readLogs(id)), 'hi\n');
  assert.equal((await Array.fromAsync(client.listAttempts(id)))[0]?.outcome, 'done');
  assert.equal((await client.editQueue('a/b', { paused: true })).paused, true);
  assert.ok((await Array.fromAsync(client.listQueues())).some((queue) => queue.name === 'a/b'));
  const bulk = await client.bulkJobs({ action: 'cancel', filter: { status: 'pending' } });
  assert.equal((await client.readOperation(bulk.operation?.id ?? '')).action, 'cancel');
  assert.equal((await Array.fromAsync(client.listWorkers()))[0]?.id, worker);
  assert.equal((await client.drainWorker(worker)).state, 'draining');
  assert.equal((await client.undrainWorker(worker)).state, 'online');
  assert.equal((await client.readStats({ from: '1h' })).totals.failed, 0);
  assert.equal((await client.readHealth()).status, 'ok');
  server.scheduler.drain();
  assert.deepEqual(await client.readReady(), { ready: false, problems: ['shutting down'] });
});

test('events arrive as they happen', async () => {
  await using server = await openTestServer();
  const ended = new AbortController();
  const client = new Client({ url: server.url });
  const seen = Promise.withResolvers<string>();
  const listening = (async () => {
    for await (const event of client.streamEvents({ signal: ended.signal })) seen.resolve(event.topic);
  })();
  // Whether the stream is open yet cannot be seen from here: submit until it is.
  const submitted: Promise<unknown>[] = [];
  const submitting = setInterval(() => submitted.push(client.submit({ command: 'a' })), 100);
  assert.match(await seen.promise, /^(jobs|queues)$/);
  clearInterval(submitting);
  await Promise.all(submitted);
  ended.abort();
  await assert.rejects(listening);
});

test('an address on a socket, which fetch cannot use, is refused with what to do', async () => {
  const url = 'unix:/run/workron/workron.sock';
  assert.throws(() => new Client({ url }), {
    code: 'bad_request',
    message: /fetch cannot use a socket.*open\('unix:…'\)/,
  });
  const seen: string[] = [];
  const transport = (address: string) => Promise.reject(new Error(String(seen.push(address))));
  await assert.rejects(new Client({ url, transport }).readJob('7'), { code: 'unreachable' });
  assert.deepEqual(seen, ['unix:/run/workron/workron.sock:/jobs/7']);
});

test('errors carry the server’s code and words', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const client = new Client({ url: server.url, token: 'secret' });
  await assert.rejects(
    client.readJob('7'),
    (error) => isWorkronError(error, 'job_not_found') && error.message === 'No job 7',
  );
  await assert.rejects(
    client.submit({ command: '' }),
    (error) => isWorkronError(error, 'bad_request') && error.details.errors?.[0]?.pointer === '/command',
  );
  await assert.rejects(new Client({ url: server.url }).listJobs(), (error) => isWorkronError(error, 'unauthorized'));
  await assert.rejects(new Client({ url: 'http://127.0.0.1:1' }).readHealth(), (error) => {
    return isWorkronError(error, 'unreachable') && error.retryable;
  });
  const gone = AbortSignal.abort(new Error('enough'));
  await assert.rejects(client.listJobs({}, { signal: gone }), /enough/);
});

test('the client and all that it imports work without node', async () => {
  const seen = new Set<string>();
  async function visit(url: URL): Promise<void> {
    if (seen.has(url.href)) return;
    seen.add(url.href);
    const source = await readFile(url, 'utf8');
    for (const [, target] of source.matchAll(/^(?:import|export)\s(?:[^'"]*\sfrom\s)?'([^']+)'/gms)) {
      assert.ok(!target?.startsWith('node:'), `${url.pathname} imports ${target}`);
      if (target?.startsWith('.')) await visit(new URL(target, url));
    }
  }
  await visit(new URL('../../src/api/client.ts', import.meta.url));
  assert.ok(seen.size > 5);
});
