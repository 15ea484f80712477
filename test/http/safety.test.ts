import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { routes } from '../../src/api/routes.ts';
import { GuessLimit } from '../../src/http/guess-limit.ts';
import { assertSafeBind } from '../../src/http/safe-bind.ts';
import { derivedToken } from '../../src/ops/token-text.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

/** fetch will not let a test choose Host or Origin; a terminal, or an attacker, can. */
async function raw(server: TestServer, method: string, path: string, headers: Record<string, string>, body = '') {
  const request = http.request({ host: '127.0.0.1', port: server.port, method, path, headers });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  if (!response.headers['content-type']?.startsWith('text/event-stream'))
    for await (const chunk of response) text += chunk;
  else response.destroy();
  return { status: response.statusCode, headers: response.headers, text };
}

const JOB = '{"command":"echo hi"}';

test('without a token: only by this machine’s own names', async () => {
  await using server = await openTestServer({ allowedHosts: ['Workron.internal'] });
  for (const host of ['localhost', 'localhost:9999', '127.0.0.1', '[::1]:80', 'LOCALHOST', 'workron.internal:80']) {
    assert.equal((await raw(server, 'POST', '/jobs', { host }, JOB)).status, 201, host);
  }
  const foreign = [
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:8080',
    '10.0.0.7',
    'localhost@evil',
    '[::2]',
  ];
  for (const host of foreign) {
    const answer = await raw(server, 'POST', '/jobs', { host }, JOB);
    assert.equal(answer.status, 403, host);
    assert.equal(JSON.parse(answer.text).code, 'forbidden');
    assert.equal((await raw(server, 'GET', '/health', { host })).status, 403, host);
  }
  assert.equal((await server.call('GET', '/jobs')).body.items.length, 6);
});

test('a page of another origin is refused on every route and method', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const host = `127.0.0.1:${server.port}`;
  const foreign = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: `https://evil.example:${server.port}` },
    { origin: `http://127.0.0.1:${server.port + 1}` },
    { origin: 'file://' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of foreign) {
    for (const route of Object.values(routes)) {
      const path = route.path.replace(/:\w+/g, '1');
      const answer = await raw(server, route.method, path, { host, authorization: 'Bearer secret', ...headers });
      assert.equal(answer.status, 403, `${route.method} ${path} ${JSON.stringify(headers)}`);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
    assert.equal((await raw(server, 'OPTIONS', '/jobs', { host, ...headers })).status, 403);
  }
  const own = { host, authorization: 'Bearer secret', origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
  assert.equal((await raw(server, 'POST', '/jobs', own, JOB)).status, 201);
});

test('a link on another site opens the page, and nothing else', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const headers = {
    host: `127.0.0.1:${server.port}`,
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };
  for (const path of ['/ui/', '/ui/jobs/12']) {
    assert.equal((await raw(server, 'GET', path, headers)).status, 200, path);
  }
  const root = await raw(server, 'GET', '/', { ...headers, accept: 'text/html' });
  assert.deepEqual([root.status, root.headers.location], [302, '/ui/']);
  const refused: [string, string, Record<string, string>][] = [
    ['GET', '/ui/', { 'sec-fetch-dest': 'iframe' }],
    ['GET', '/ui/', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['GET', '/ui/', { origin: 'https://evil.example' }],
    ['GET', '/jobs', {}],
    ['GET', '/health', {}],
    ['POST', '/jobs', {}],
  ];
  for (const [method, path, more] of refused) {
    const answer = await raw(server, method, path, { ...headers, authorization: 'Bearer secret', ...more });
    assert.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(more)}`);
  }
});

test('a request that names two hosts is refused', async () => {
  await using server = await openTestServer();
  const own = `127.0.0.1:${server.port}`;
  const statusOf = async (lines: string[]) => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end([...lines, 'Connection: close', '', ''].join('\r\n'));
    return (await text(socket)).split(' ', 2)[1];
  };
  assert.equal(await statusOf(['GET /jobs HTTP/1.1', `Host: ${own}`]), '200');
  assert.equal(await statusOf(['GET /jobs HTTP/1.1', `Host: ${own}`, 'Host: evil.example']), '400');
  assert.equal(await statusOf([`GET http://evil.example/jobs HTTP/1.1`, `Host: ${own}`]), '400');
});

test('an allowed host may be the origin of a page behind a proxy', async () => {
  await using server = await openTestServer({ allowedHosts: ['jobs.example'] });
  const headers = { host: 'localhost', origin: 'https://jobs.example' };
  assert.equal((await raw(server, 'GET', '/jobs', headers)).status, 200);
});

test('with a token: any Host, but only with it, except for health and readiness', async () => {
  await using server = await openTestServer({ token: 'secret', maxGuesses: 1_000 });
  const host = 'jobs.example';
  for (const route of Object.values(routes)) {
    const path = route.path.replace(/:\w+/g, '1');
    for (const authorization of [
      undefined,
      'Bearer wrong',
      'Bearer secrets',
      'Bearer secre',
      'Basic secret',
      'secret',
      'Bearer ',
    ]) {
      const headers = { host, ...(authorization === undefined ? {} : { authorization }) };
      const answer = await raw(server, route.method, path, headers);
      if (route.scope === null) {
        assert.equal(answer.status, 200, path);
      } else {
        assert.equal(answer.status, 401, `${route.method} ${path} ${authorization}`);
        assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
        assert.equal(JSON.parse(answer.text).code, 'unauthorized');
      }
    }
  }
  assert.deepEqual(
    Object.values(routes)
      .filter((route) => route.scope === null)
      .map((route) => route.path),
    ['/health', '/ready'],
  );
  assert.equal((await raw(server, 'GET', '/nowhere', { host })).status, 401);
  assert.equal((await raw(server, 'GET', '/jobs', { host, authorization: 'Bearer secret' })).status, 200);
  assert.equal((await raw(server, 'GET', '/jobs', { host, authorization: 'bearer  secret' })).status, 200);
});

test('a derived token allows the one request that it was made for', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const host = 'jobs.example';
  const authorization = `Bearer ${derivedToken('secret', 'POST /workers/7/gone')}`;
  const status = async (method: string, path: string) =>
    (await raw(server, method, path, { host, authorization })).status;
  assert.equal(await status('POST', '/workers/7/gone'), 404, 'there is no such worker');
  assert.equal(await status('POST', '/workers/8/gone'), 401);
  assert.equal(await status('GET', '/workers/7/gone'), 401);
  assert.equal(await status('GET', '/jobs'), 401);
  assert.equal(await status('GET', '/jobs?path=/workers/7/gone'), 401);
});

test('answers cannot be sniffed, cached or embedded', async () => {
  await using server = await openTestServer();
  const { headers } = await server.call('GET', '/jobs');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
});

test('listening elsewhere than on this machine needs a token, and the refusal says what to do', async () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) assertSafeBind(host, null);
  assertSafeBind('0.0.0.0', 'a-token-of-22-characters');
  assert.throws(() => assertSafeBind('0.0.0.0', 'secret'), /can be guessed.*22/);
  assertSafeBind('127.0.0.1', 'secret');
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.evil.example', '']) {
    assert.throws(() => assertSafeBind(host, null), /--token or WORKRON_TOKEN/, host);
  }
});

test('what is not HTTP is answered without a 5xx, and the server goes on', async () => {
  await using server = await openTestServer();
  const { connect } = await import('node:net');
  const socket = connect(server.port, '127.0.0.1');
  socket.end('NONSENSE\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += chunk;
  assert.match(text, /^HTTP\/1\.1 400/);
  assert.equal((await server.call('GET', '/health')).status, 200);
});

test('the address, body and signature of a webhook are for the worker that sends it, not for readers', async () => {
  await using server = await openTestServer();
  const input = { url: 'https://hooks.example/secret-part', body: '{"id":"1"}', signature: 'sha256=abc' };
  const submitted = await server.call('POST', '/jobs', { handler: 'workron.webhook', input });
  const { id } = submitted.body;
  const answers = [submitted, await server.call('GET', `/jobs/${id}`), await server.call('GET', '/jobs')];
  for (const { body } of answers) {
    assert.deepEqual((body.items?.[0] ?? body).input, { host: 'hooks.example' });
    assert.doesNotMatch(JSON.stringify(body), /secret-part|sha256/);
  }
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  const offer = { worker_id: worker.worker_id, handlers: ['workron.webhook'], limit: 1 };
  const claimed = await server.call('POST', '/jobs/claim', offer);
  assert.deepEqual(claimed.body.items?.[0]?.input, input, JSON.stringify(claimed.body));
});

test('an address that guesses tokens gets 429, and a valid token of the same address is accepted', async () => {
  await using server = await openTestServer({ token: 'secret', maxGuesses: 3 });
  const host = 'localhost';
  const statusOf = async (authorization?: string) =>
    (await raw(server, 'GET', '/jobs', { host, ...(authorization === undefined ? {} : { authorization }) })).status;
  for (let guess = 0; guess < 3; guess += 1) assert.equal(await statusOf('Bearer wrong'), 401);
  const refused = await raw(server, 'GET', '/jobs', { host, authorization: 'Bearer wrong' });
  assert.equal(refused.status, 429);
  assert.match(String(refused.headers['retry-after']), /^[1-9]$/);
  assert.equal(await statusOf('Bearer secret'), 200);
  assert.equal(await statusOf(), 401, 'no token is no guess');
});

test('wrong tokens are forgotten one by one, and those of one address do not count for another', () => {
  const limit = new GuessLimit(2);
  limit.count('a', 0);
  limit.count('a', 0);
  assert.throws(() => limit.count('a', 999), /Too many wrong tokens/);
  limit.count('b', 999);
  limit.count('a', 1_001);
  assert.throws(() => limit.count('a', 1_002), /Too many wrong tokens/);
});

test('limits: the depth of a page, the offset of output and the time before SIGKILL', async () => {
  await using server = await openTestServer();
  const host = 'localhost';
  assert.equal((await raw(server, 'GET', `/ui/${'a/'.repeat(20)}`, { host })).status, 200);
  assert.equal((await raw(server, 'GET', `/ui/${'/'.repeat(7_000)}`, { host })).status, 404);
  const longest = await server.call('POST', '/jobs', { command: 'true', kill_grace: '1h' });
  assert.equal(longest.status, 201);
  const refused = await server.call('POST', '/jobs', { command: 'true', kill_grace: '61m' });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(refused.body), /at most 1h/);
  const query = `worker_id=1&attempt=1&offset=${2 ** 53 - 1}`;
  assert.equal((await raw(server, 'POST', `/jobs/${longest.body.id}/logs?${query}`, { host }, 'x')).status, 400);
});
