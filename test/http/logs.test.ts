import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type LogEvent } from '../../src/api/client.ts';
import { claimOverHttp, openTestServer, type TestServer } from '../kit/http.ts';

async function running(server: TestServer, job: object = {}) {
  await server.call('POST', '/jobs', { command: 'a', backoff: { type: 'none' }, ...job });
  const claimed = await claimOverHttp(server);
  const { id, worker } = claimed;
  return {
    ...claimed,
    print: async (offset: number, bytes: string | Uint8Array, attempt = 1, from = worker) => {
      const response = await fetch(
        `${server.url}/jobs/${id}/logs?worker_id=${from}&attempt=${attempt}&offset=${offset}`,
        {
          method: 'POST',
          body: bytes as string,
        },
      );
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}

test('logs: raw bytes in, the same bytes out, the same offset once', async () => {
  await using server = await openTestServer();
  const { id, print } = await running(server);
  const bytes = Uint8Array.from([104, 105, 0, 255, 10]);
  assert.deepEqual(await print(0, bytes), { status: 200, body: { next_offset: 5 } });
  assert.deepEqual(await print(0, bytes), { status: 200, body: { next_offset: 5 } });
  const response = await fetch(`${server.url}/jobs/${id}/logs`);
  assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
});

test('logs: a worker without the lease is refused, and bad requests say why', async () => {
  await using server = await openTestServer();
  const { id, worker, print } = await running(server);
  assert.equal((await print(0, 'x', 2)).body['code'], 'lease_lost');
  assert.equal((await print(0, 'x', 1, '999')).body['code'], 'lease_lost');
  for (const query of [
    '',
    `worker_id=${worker}&attempt=1`,
    `worker_id=${worker}&attempt=0&offset=0`,
    `worker_id=${worker}&attempt=1&offset=-1`,
  ]) {
    assert.equal((await server.call('POST', `/jobs/${id}/logs?${query}`, 'x')).status, 400, query);
  }
  for (const query of ['attempt=0', 'attempt=x', 'follow=maybe', 'timestamps=1', 'atempt=1']) {
    assert.equal((await server.call('GET', `/jobs/${id}/logs?${query}`)).status, 400, query);
  }
  assert.equal((await server.call('GET', `/jobs/${id}/logs?attempt=2`)).body.code, 'not_found');
});

test('logs: where bytes were dropped, the text says so', async () => {
  await using server = await openTestServer();
  const { id, print } = await running(server);
  await print(0, 'begin');
  await print(12_350, 'end');
  assert.equal((await server.call('GET', `/jobs/${id}/logs`)).body, 'begin\n… 12,345 bytes cut …\nend');
});

test('logs: with timestamps, each line begins with the time of the chunk in which it begins', async () => {
  await using server = await openTestServer();
  const { id, worker, print } = await running(server);
  await print(0, 'one\n\ntw');
  await print(7, 'o\nthree');
  await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt: 1 });
  const events: LogEvent[] = [];
  for await (const event of new Client({ url: server.url }).followLogs(id)) events.push(event);
  const [first = '', second = ''] = events.flatMap((event) => (event.type === 'output' ? [event.received_at] : []));
  const expected = `${first} one\n${first} \n${first} two\n${second} three`;
  for (const follow of ['false', 'true']) {
    const { body } = await server.call('GET', `/jobs/${id}/logs?timestamps=true&follow=${follow}`);
    assert.equal(body, expected);
  }
});

test('logs: follow=true goes on until the job ends, over all attempts', async () => {
  await using server = await openTestServer();
  const { id, worker, print } = await running(server);
  await print(0, 'one\n');
  const following = fetch(`${server.url}/jobs/${id}/logs?follow=true`).then((response) => response.text());
  await server.call('POST', `/jobs/${id}/fail`, { worker_id: worker, attempt: 1, exit_code: 1 });
  const second = await claimOverHttp(server);
  await print(0, 'two', 2, second.worker);
  await server.call('POST', `/jobs/${id}/done`, { worker_id: second.worker, attempt: 2 });
  assert.equal(await following, 'one\n… attempt 2 …\ntwo');
  assert.equal((await server.call('GET', `/jobs/${id}/logs?attempt=1`)).body, 'one\n');
});

test('logs: as events, characters are never torn, and the end carries the job', async () => {
  await using server = await openTestServer();
  const client = new Client({ url: server.url });
  const { id, worker, print } = await running(server);
  const euro = new TextEncoder().encode('€');
  const seen: LogEvent[] = [];
  const first = Promise.withResolvers<void>();
  const following = (async () => {
    for await (const event of client.followLogs(id)) {
      seen.push(event);
      first.resolve();
    }
  })();
  await print(0, Buffer.concat([Buffer.from('price: '), euro.subarray(0, 1)]));
  await first.promise;
  await print(8, euro.subarray(1));
  await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt: 1 });
  await following;
  const text = seen.map((event) => (event.type === 'output' ? event.text : '')).join('');
  assert.equal(text, 'price: €');
  const last = seen.at(-1);
  assert.ok(last?.type === 'end' && last.job.status === 'done');
});

test('logs: events resume where they were', async () => {
  await using server = await openTestServer();
  const { id, worker, print } = await running(server);
  await print(0, 'hello world');
  await server.call('POST', `/jobs/${id}/done`, { worker_id: worker, attempt: 1 });
  const headers = { accept: 'text/event-stream', 'last-event-id': '1-6' };
  const response = await fetch(`${server.url}/jobs/${id}/logs`, { headers });
  assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
  const text = await response.text();
  assert.match(
    text,
    /^event: output\nid: 1-11\ndata: {"attempt":1,"offset":6,"text":"world","received_at":"[^"]+"}\n\nevent: end\n/,
  );
});

test('logs: a job that waits is followed from its first line', async () => {
  await using server = await openTestServer();
  const { body: job } = await server.call('POST', '/jobs', { command: 'a' });
  const following = fetch(`${server.url}/jobs/${job.id}/logs?follow=true`).then((response) => response.text());
  const { worker } = await claimOverHttp(server);
  await fetch(`${server.url}/jobs/${job.id}/logs?worker_id=${worker}&attempt=1&offset=0`, {
    method: 'POST',
    body: 'hi\n',
  });
  await server.call('POST', `/jobs/${job.id}/done`, { worker_id: worker, attempt: 1 });
  assert.equal(await following, 'hi\n');
});

test('logs: closing the server ends the streams of followers', async () => {
  await using server = await openTestServer();
  const { id } = await running(server);
  const following = await fetch(`${server.url}/jobs/${id}/logs?follow=true`);
  const reading = following.text().catch(() => 'broken off');
  await server.close();
  await reading;
});
