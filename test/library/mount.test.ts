/** The API inside somebody else's server. */

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import express from 'express';
import fastify from 'fastify';
import { Client } from '../../src/client.ts';
import { job, type MountUser, open } from '../../src/index.ts';
import { openBrowser } from '../kit/browser.ts';
import { openScreen } from '../kit/dashboard.ts';
import { buildPage } from '../kit/page-build.ts';

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
    const ended = await client.waitJob(submitted.id);
    assert.deepEqual([ended.status, ended.result], ['done', { path, text: 'ü' }]);
    assert.equal((await client.listJobs({ limit: 1 })).items.length, 1);
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
  const hourly = JSON.stringify({ name: 'hourly', every: '1h', job: { handler: 'echo' } });
  const made = await call('/schedules', { method: 'POST', headers, body: hourly });
  assert.equal(made.headers.get('location'), '/api/jobs/schedules/hourly');
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

test('mount: the dashboard lives below the host’s own address, behind its log-in, and is live', {
  timeout: 120_000,
}, async () => {
  buildPage();
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [echo] });
  const { node } = await workron.mount();
  const app = express();
  const credentials = { username: 'ada', password: 'secret' };
  const known = `Basic ${Buffer.from('ada:secret').toString('base64')}`;
  app.use('/admin/workron', (request, response, next) => {
    if (request.headers.authorization === known) next();
    else response.set('www-authenticate', 'Basic').sendStatus(401);
  });
  app.use('/admin/workron', node);
  await using host = await listening(app as RequestListener);
  const first = await workron.submit(echo, 1, { name: 'first' });
  await first.result();
  const browser = await openBrowser();
  try {
    // Without the slash that its relative addresses would need.
    await using screen = await openScreen(browser, host.url, '/admin/workron', { httpCredentials: credentials });
    const { page } = screen;
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.locator('.job-row[data-job]').first().waitFor();
    assert.equal(new URL(page.url()).pathname, '/admin/workron/ui/jobs');
    await workron.submit(echo, 2, { name: 'second' });
    await page.getByText('second').first().waitFor();
    await using deep = await openScreen(browser, host.url, `/admin/workron/ui/jobs/${first.id}`, {
      httpCredentials: credentials,
    });
    await deep.page.getByText('first').first().waitFor();
    const links = await deep.page.locator('a[href]').evaluateAll((all) => all.map((each) => each.getAttribute('href')));
    assert.deepEqual(
      links.filter((href) => href?.startsWith('/') && !href.startsWith('/admin/workron/')),
      [],
    );
  } finally {
    await browser.close();
  }
  assert.equal((await fetch(`${host.url}/admin/workron/ui/`)).status, 401);
});

test('mount: with a prefix, nothing is served outside of it', async () => {
  await using workron = await open('memory:');
  const { fetch: handle, node } = await workron.mount({ prefix: '/api/jobs' });
  for (const path of ['/jobs', '/health', '/api/jobsx/health', '/api/jobshealth', '/api', '/']) {
    assert.equal((await handle(new Request(`http://app.example${path}`))).status, 404, path);
  }
  assert.equal((await handle(new Request('http://app.example/api/jobs/health'))).status, 200);
  assert.equal((await handle(new Request('http://app.example/api/jobs?x=1'))).status, 200);
  await using server = await listening(node);
  assert.equal((await fetch(`${server.url}/health`)).status, 404);
  assert.equal((await fetch(`${server.url}/api/jobs/health`)).status, 200);
});

test('mount: in Fastify, with a prefix: bodies, addresses in answers, streams, and the page at any depth', async () => {
  buildPage();
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [echo] });
  const { node } = await workron.mount({ prefix: '/workron' });
  const app = fastify();
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (request.headers.authorization !== 'Bearer host') return reply.code(401).send();
    });
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const all = (
      request: { raw: Parameters<typeof node>[0] },
      reply: { hijack(): unknown; raw: Parameters<typeof node>[1] },
    ) => {
      reply.hijack();
      node(request.raw, reply.raw);
    };
    scope.all('/workron', all);
    scope.all('/workron/*', all);
  });
  app.all('/parsed/*', (request, reply) => {
    reply.hijack();
    node(request.raw, reply.raw);
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  try {
    const headers = { authorization: 'Bearer host' };
    const client = new Client({ url: `${url}/workron`, token: 'host' });
    const events = client.streamEvents();
    const hint = events.next();
    const submitted = await client.submit({ handler: 'echo', input: 'ü' });
    assert.equal((await client.waitJob(submitted.id)).result, 'ü');
    assert.ok((await hint).value);
    await events.return(undefined);
    assert.equal((await fetch(`${url}/workron/jobs`)).status, 401);

    const json = { ...headers, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'nightly', cron: '@daily', job: { handler: 'echo' } });
    const made = await fetch(`${url}/workron/schedules`, { method: 'POST', headers: json, body });
    const location = made.headers.get('location') ?? '';
    assert.deepEqual([made.status, location], [201, '/workron/schedules/nightly']);
    assert.equal((await fetch(url + location, { headers })).status, 200);

    for (const path of ['/workron', '/workron/']) {
      const browser = { headers: { ...headers, accept: 'text/html' }, redirect: 'manual' } as const;
      assert.equal((await fetch(url + path, browser)).headers.get('location'), '/workron/ui/', path);
    }
    for (const path of ['/ui', '/ui/', '/ui/jobs', '/ui/jobs/5?tab=log', '/ui/jobs/5/x', '/ui/a%2Fb']) {
      const html = await (await fetch(`${url}/workron${path}`, { headers })).text();
      const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string);
      assert.ok(files.length > 3, path);
      for (const file of files) {
        const address = new URL(file, `${url}/workron${path}`);
        assert.match(address.pathname, /^\/workron\/ui\//, path);
        const { status, headers: told } = await fetch(address, { headers });
        assert.equal(status, 200, `${file} of ${path}`);
        assert.doesNotMatch(told.get('content-type') ?? '', /html/, `${file} of ${path}`);
      }
    }
    const parsed = await fetch(`${url}/parsed/jobs`, { method: 'POST', headers: json, body: '{}' });
    assert.equal(parsed.status, 500);
    assert.match(await parsed.text(), /has read the body/);
  } finally {
    await app.close();
  }
});

test('mount: authorize says who calls and what they may, for node and fetch', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const people: Record<string, MountUser> = {
    ada: { name: 'ada', role: 'admin' },
    bob: { name: 'bob', role: 'viewer' },
    cy: { name: 'cy', role: 'submitter', queues: ['mail'] },
  };
  const authorize = async (request: IncomingMessage | Request): Promise<MountUser | null> => {
    const { headers } = request;
    const who = headers instanceof Headers ? headers.get('x-who') : headers['x-who'];
    if (who === 'broken') throw new Error('no directory');
    return people[String(who)] ?? null;
  };
  const mounted = await workron.mount({ authorize });
  await using host = await listening(mounted.node);
  type Way = (path: string, init: RequestInit) => Promise<Response>;
  const byNode: Way = (path, init) => fetch(host.url + path, init);
  const byFetch: Way = (path, init) => mounted.fetch(new Request(`http://shop.example${path}`, init));
  for (const call of [byNode, byFetch]) {
    const as = async (who: string, method: string, path: string, body?: object, more: Record<string, string> = {}) => {
      const headers = { 'x-who': who, 'content-type': 'application/json', ...more };
      const answer = await call(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await answer.text();
      return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    };
    const later = { command: 'true', delay: '1h' };
    assert.equal((await as('eve', 'GET', '/jobs')).status, 403);
    assert.equal((await as('bob', 'GET', '/jobs')).status, 200);
    assert.equal((await as('bob', 'POST', '/jobs', later)).status, 403);
    assert.equal((await as('cy', 'POST', '/jobs', later)).status, 403, 'another queue');
    const { body: made } = await as('cy', 'POST', '/jobs', { ...later, queue: 'mail' });
    assert.equal(made.submitted_by, 'cy');
    assert.equal((await as('ada', 'POST', `/jobs/${made.id}/cancel`)).status, 200);
    const { body: audit } = await as('ada', 'GET', '/audit?limit=1');
    assert.deepEqual([audit.items[0].actor, audit.items[0].result], ['ada', 'ok']);
    const { body: session } = await as('bob', 'GET', '/session');
    assert.deepEqual([session.name, session.scopes, session.token_needed], ['bob', ['read'], false]);
  }
  assert.equal((await byNode('/jobs', { headers: { 'x-who': 'broken' } })).status, 500);
  await assert.rejects(byFetch('/jobs', { headers: { 'x-who': 'broken' } }), /no directory/);
});

test('mount: authorize is asked about the address as the application knows it, by many callers at once', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const asked: string[] = [];
  const authorize = async (request: IncomingMessage | Request): Promise<MountUser | null> => {
    const path = new URL(request.url ?? '', 'http://app.example').pathname;
    asked.push(path);
    const name = new URL(request.url ?? '', 'http://app.example').searchParams.get('q') ?? '';
    // The answers come in another order than the questions.
    await setTimeout(name.length % 3);
    return path.startsWith('/app/') ? { name, role: 'viewer' } : null;
  };
  const mounted = await workron.mount({ prefix: '/app', authorize });
  await using host = await listening(mounted.node);
  for (const call of [
    (path: string) => fetch(host.url + path),
    (path: string) => mounted.fetch(new Request(`http://app.example${path}`)),
  ]) {
    const names = Array.from({ length: 20 }, (_, index) => 'x'.repeat(index + 1));
    const answers = await Promise.all(names.map((name) => call(`/app/session?q=${name}`)));
    const found = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { name: string }).name));
    assert.deepEqual(found, names);
  }
  assert.deepEqual(new Set(asked), new Set(['/app/session']));
});

test('mount: queues that would not restrict anybody are an error of authorize', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const users = [
    { name: 'ada', role: 'operator', queues: ['mail'] },
    { name: 'bob', role: 'submitter', queues: 'mail' },
  ] as unknown as MountUser[];
  for (const user of users) {
    const { fetch: handle } = await workron.mount({ authorize: () => user });
    await assert.rejects(handle(new Request('http://app.example/jobs')), /expected queues as a list/);
  }
});
