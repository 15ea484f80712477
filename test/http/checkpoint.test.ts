/** Checkpoints over HTTP: bytes, streamed, fenced by the attempt. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import { MAX_CHECKPOINT_BYTES } from '../../src/core/checkpoint.ts';
import { eventually } from '../kit/eventually.ts';
import { claimOverHttp, openTestServer, type TestServer } from '../kit/http.ts';

async function put(server: TestServer, path: string, body: Uint8Array<ArrayBuffer>, type = 'application/octet-stream') {
  const response = await fetch(server.url + path, { method: 'PUT', body, headers: { 'content-type': type } });
  return { status: response.status, body: (await response.json()) as { code?: string; bytes?: number } };
}

async function get(server: TestServer, id: string) {
  const response = await fetch(`${server.url}/jobs/${id}/checkpoint`);
  return { response, data: Buffer.from(await response.arrayBuffer()) };
}

async function claimed(server: TestServer) {
  await server.call('POST', '/jobs', { command: 'x' });
  const { worker: worker_id, id, attempt } = await claimOverHttp(server);
  return { id, path: `/jobs/${id}/checkpoint?attempt=${attempt}&worker_id=${worker_id}`, worker_id, attempt };
}

test('checkpoint: bytes go in and come out as they are, of any size up to the limit, and are shown on the job', async () => {
  await using server = await openTestServer();
  const { id, path } = await claimed(server);
  assert.deepEqual((await server.call('GET', `/jobs/${id}`)).body.checkpoint, null);
  const none = await server.call('GET', `/jobs/${id}/checkpoint`);
  assert.deepEqual([none.status, none.body.code], [404, 'not_found']);
  for (const size of [0, 1, 1024 * 1024, 3 * 1024 * 1024 + 5]) {
    const data = randomBytes(size);
    assert.deepEqual(await put(server, path, data), { status: 200, body: { bytes: size } });
    const read = await get(server, id);
    assert.equal(read.response.headers.get('content-length'), String(size));
    assert.equal(read.response.headers.get('content-type'), 'application/octet-stream');
    assert.ok(read.data.equals(data));
    const { checkpoint } = (await server.call('GET', `/jobs/${id}`)).body;
    assert.deepEqual([checkpoint.bytes, checkpoint.attempt], [size, 1]);
    assert.ok(Date.parse(checkpoint.written_at) > 0);
  }
  await put(server, path, Buffer.from('{"a":1}'), 'application/json; charset=utf-8');
  const json = await server.call('GET', `/jobs/${id}/checkpoint`);
  assert.deepEqual(json.body, { a: 1 });
});

test('checkpoint: another attempt, another worker and bad requests change nothing', async () => {
  await using server = await openTestServer();
  const { id, path, worker_id, attempt } = await claimed(server);
  await put(server, path, Buffer.from('kept'));
  const other = `/jobs/${id}/checkpoint?attempt=${attempt + 1}&worker_id=${worker_id}`;
  const lost = await put(server, other, randomBytes(2 * 1024 * 1024));
  assert.deepEqual([lost.status, lost.body.code], [409, 'lease_lost']);
  for (const [bad, status] of [
    [`/jobs/${id}/checkpoint`, 400],
    [`/jobs/${id}/checkpoint?attempt=0&worker_id=${worker_id}`, 400],
    [`/jobs/${id}/checkpoint?attempt=1&worker_id=x`, 400],
    [`/jobs/x/checkpoint?attempt=1&worker_id=${worker_id}`, 404],
    [`/jobs/999/checkpoint?attempt=1&worker_id=${worker_id}`, 409],
  ] as const) {
    assert.equal((await put(server, bad, Buffer.from('bad'))).status, status, bad);
  }
  assert.equal((await server.call('GET', '/jobs/999/checkpoint')).body.code, 'job_not_found');
  assert.equal((await get(server, id)).data.toString(), 'kept');
});

test('checkpoint: more than 64 MiB are refused, announced or not', async () => {
  await using server = await openTestServer();
  const { id, path } = await claimed(server);
  await put(server, path, Buffer.from('kept'));
  const send = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(server.url + path, { method: 'PUT', headers }, (response) => {
        resolve(response.statusCode ?? 0);
        sent.destroy();
      });
      sent.on('error', reject);
      const block = Buffer.alloc(1024 * 1024);
      let blocks = 0;
      const more = () => {
        while (!sent.destroyed && blocks * block.length <= MAX_CHECKPOINT_BYTES) {
          blocks += 1;
          if (!sent.write(block)) return void sent.once('drain', more);
        }
      };
      more();
    });
  assert.equal(await send({ 'content-length': String(MAX_CHECKPOINT_BYTES + 1) }), 413);
  assert.equal(await send({}), 413);
  assert.equal((await get(server, id)).data.toString(), 'kept');
});

test('checkpoint: an upload that breaks off leaves the one before whole', async () => {
  await using server = await openTestServer();
  const { id, path } = await claimed(server);
  await put(server, path, Buffer.from('kept'));
  const broken = request(server.url + path, { method: 'PUT', headers: { 'content-length': '5000000' } });
  broken.on('error', () => undefined);
  broken.write(randomBytes(3_000_000));
  const seen = await eventually(async () => (await get(server, id)).data.toString());
  broken.destroy();
  assert.equal(seen, 'kept');
  assert.equal((await get(server, id)).data.toString(), 'kept');
  assert.equal((await put(server, path, Buffer.from('next'))).status, 200);
  assert.equal((await get(server, id)).data.toString(), 'next');
});
