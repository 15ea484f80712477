/** The API inside somebody else's server. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import express from 'express';
import { Client } from '../../src/client.ts';
import { job, open } from '../../src/index.ts';

const echo = job('echo', { run: (input: unknown) => input });

async function listening(handler: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('mount: in Express, behind its own log-in, before and after a body parser', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [echo] });
  const { node } = await workron.mount();
  const app = express();
  app.use('/early', node);
  app.use(express.json());
  app.use('/workron', (request, response, next) => {
    if (request.headers.authorization === 'Bearer host') next();
    else response.sendStatus(401);
  });
  app.use('/workron', node);
  await using host = await listening(app as RequestListener);
  for (const path of ['/early', '/workron']) {
    const client = new Client({ url: host.url + path, token: 'host' });
    const submitted = await client.submit({ handler: 'echo', input: { path, text: 'ü' } });
    const ended = await client.wait(submitted.id);
    assert.deepEqual([ended.status, ended.result], ['done', { path, text: 'ü' }]);
    assert.equal((await client.jobs({ limit: 1 })).items.length, 1);
    await assert.rejects(client.submit({ handler: 'echo', priority: 1e9 }), { code: 'bad_request' });
  }
  assert.equal((await fetch(`${host.url}/workron/jobs`)).status, 401);
  const foreign = await fetch(`${host.url}/early/jobs`, { headers: { origin: 'https://evil.example' } });
  assert.equal(foreign.status, 403, 'pages of other origins are refused here too');
});

test('mount: as a fetch handler, with a prefix, streams included', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [echo] });
  const { fetch: handle } = await workron.mount({ prefix: '/api/jobs' });
  const call = (path: string, init?: RequestInit) => handle(new Request(`https://shop.example/api/jobs${path}`, init));
  const headers = { 'content-type': 'application/json' };
  const submitted = await call('/jobs', {
    method: 'POST',
    headers,
    body: JSON.stringify({ handler: 'echo', input: 5 }),
  });
  assert.equal(submitted.status, 201);
  const { id } = (await submitted.json()) as { id: string };
  assert.equal(((await (await call(`/jobs/${id}/wait`)).json()) as { result: unknown }).result, 5);
  assert.equal((await call('/nowhere')).status, 404);
  const leave = new AbortController();
  const events = await call('/events', { headers: { accept: 'text/event-stream' }, signal: leave.signal });
  assert.match(events.headers.get('content-type') ?? '', /text\/event-stream/);
  const reader = (events.body as ReadableStream<Uint8Array>).getReader();
  await workron.submit(echo, 1);
  let text = '';
  while (!text.includes('"topic":"jobs"')) {
    const { value, done } = await reader.read();
    assert.equal(done, false);
    text += Buffer.from(value ?? []).toString();
  }
  leave.abort();
  await reader.cancel().catch(() => undefined);
});
