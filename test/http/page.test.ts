/** The dashboard's files and the page's session, over the wire. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

async function builtPage() {
  const folder = await temporaryFolder();
  await mkdir(join(folder.path, 'assets'));
  await writeFile(join(folder.path, 'index.html'), '<!doctype html><title>Workron</title>');
  await writeFile(join(folder.path, 'assets', 'index-abc123.js'), 'export {};'.repeat(200));
  await writeFile(join(folder.path, 'secret.txt'), 'not a file of the page');
  return folder;
}

test('page: every address below /ui/ that is no file is the page, never kept by a cache', async () => {
  await using folder = await builtPage();
  await using server = await openTestServer({ pageFolder: folder.path });
  for (const path of [
    '/ui',
    '/ui/',
    '/ui/jobs/12?tab=attempts',
    '/ui/a/b/c',
    '/ui/secret.txt',
    '/ui/..%2f..%2fpackage.json',
  ]) {
    const { status, headers, body } = await server.call('GET', path);
    assert.equal(status, 200, path);
    assert.match(body, /^<!doctype html>/, path);
    assert.equal(headers.get('cache-control'), 'no-cache');
    assert.match(headers.get('content-type') ?? '', /^text\/html/);
  }
  assert.equal((await server.call('GET', '/ui/missing.js')).status, 404);
  assert.equal((await server.call('POST', '/ui/')).status, 404);
});

test('page: files with a hash in their name are kept for ever, and sent compressed or not at all', async () => {
  await using folder = await builtPage();
  await using server = await openTestServer({ pageFolder: folder.path });
  const { headers, body } = await server.call('GET', '/ui/assets/index-abc123.js');
  assert.equal(body, 'export {};'.repeat(200));
  assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(headers.get('content-encoding'), 'gzip');
  const plain = await server.call('GET', '/ui/assets/index-abc123.js', undefined, { 'accept-encoding': 'identity' });
  assert.deepEqual([plain.headers.get('content-encoding'), plain.body], [null, body]);
  const etag = headers.get('etag') ?? '';
  assert.equal(
    (await server.call('GET', '/ui/assets/index-abc123.js', undefined, { 'if-none-match': etag })).status,
    304,
  );
});

test('page: its policy lets nothing in but its own files, not even inline', async () => {
  await using folder = await builtPage();
  await using server = await openTestServer({ pageFolder: folder.path });
  for (const path of ['/ui/', '/ui/assets/index-abc123.js', '/ui/missing.js']) {
    const policy = (await server.call('GET', path)).headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/, path);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.match(policy, /frame-ancestors 'none'/);
  }
});

test('page: answers of the API load nothing and cannot be framed either, whatever their status', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const admin = { authorization: 'Bearer secret' };
  const { body: job } = await server.call('POST', '/jobs', { command: 'true' }, admin);
  const paths = [
    '/jobs',
    `/jobs/${job.id}/logs`,
    '/jobs/999',
    '/nothing',
    '/health',
    '/metrics',
    '/openapi.json',
    '/%zz',
  ];
  for (const headers of [admin, {}]) {
    for (const path of paths) {
      const policy = (await server.call('GET', path, undefined, headers)).headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none';.* frame-ancestors 'none'$/, path);
    }
  }
});

test('page: where it was not built, a sentence says how to', async () => {
  await using folder = await temporaryFolder();
  await using server = await openTestServer({ pageFolder: folder.path });
  const { status, body } = await server.call('GET', '/ui/');
  assert.equal(status, 503);
  assert.match(body, /npm install/);
});

test('page: a browser at the root is led to it, with a token too; programs get the welcome', async () => {
  await using folder = await builtPage();
  await using server = await openTestServer({ pageFolder: folder.path, token: 'secret' });
  const browser = await fetch(server.url, { headers: { accept: 'text/html,*/*' }, redirect: 'manual' });
  assert.deepEqual([browser.status, browser.headers.get('location')], [302, '/ui/']);
  assert.equal((await server.call('GET', '/ui/')).status, 200, 'the page itself holds no data');
  assert.equal((await server.call('GET', '/')).status, 401);
  const { body } = await server.call('GET', '/', undefined, { authorization: 'Bearer secret' });
  assert.equal(body.name, 'workron');
});

interface Opened {
  cookie: string;
  /** The headers of a request of the page. */
  headers: Record<string, string>;
}

async function openSession(server: TestServer, token: string): Promise<Opened> {
  const opened = await server.call('POST', '/session', undefined, { authorization: `Bearer ${token}` });
  assert.equal(opened.status, 200, JSON.stringify(opened.body));
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
  return { cookie, headers: { cookie, 'x-workron-session': opened.body.key } };
}

test('session: the token buys a cookie that no script sees, and a key that no other port gets', async () => {
  await using server = await openTestServer({ token: 'secret' });
  assert.equal((await server.call('POST', '/session')).status, 401);
  assert.equal((await server.call('POST', '/session', undefined, { authorization: 'Bearer wrong' })).status, 401);
  const opened = await server.call('POST', '/session', undefined, { authorization: 'Bearer secret' });
  assert.match(opened.headers.get('set-cookie') ?? '', /; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
  assert.doesNotMatch(`${opened.headers.get('set-cookie')} ${JSON.stringify(opened.body)}`, /secret/);
  assert.ok(!(opened.headers.get('set-cookie') ?? '').includes(opened.body.key));
  const { cookie, headers: session } = await openSession(server, 'secret');

  const status = async (headers: Record<string, string>) =>
    (await server.call('GET', '/jobs', undefined, headers)).status;
  assert.equal(await status(session), 200);
  assert.equal(await status({ ...session, cookie: `other=1; ${cookie}` }), 200);
  assert.equal(await status({ ...session, 'sec-fetch-site': 'same-origin' }), 200);
  assert.equal(await status({ ...session, 'sec-fetch-site': 'same-site' }), 401, 'another port of this machine');
  assert.equal(await status({ ...session, 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(
    await status({ ...session, authorization: 'Bearer wrong' }),
    401,
    'what is said counts, not what clings',
  );
  assert.equal(await status({ cookie }), 401, 'a cookie that another server of this machine replays');
  assert.equal(await status({ 'x-workron-session': session['x-workron-session'] as string }), 401);
  assert.equal(await status({ ...session, cookie: `${cookie}x` }), 401);
  assert.equal(
    await status({ ...session, 'x-workron-session': `${opened.body.key}` }),
    401,
    'the key of another session',
  );
});

test('session: the name of its cookie has nothing to do with the token, and a page keeps one', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const name = ({ cookie }: Opened) => cookie.split('=', 1)[0] as string;
  const [first, second] = [await openSession(server, 'secret'), await openSession(server, 'secret')];
  assert.match(name(first), /^workron_[\w-]{8}$/);
  assert.notEqual(name(first), name(second));
  const again = await server.call('POST', '/session', undefined, { authorization: 'Bearer secret', ...first.headers });
  assert.ok(again.headers.get('set-cookie')?.startsWith(`${name(first)}=`), 'an old cookie is replaced');
  const bad = { authorization: 'Bearer secret', 'x-workron-session': 'a=b; Domain=x.y' };
  const { headers } = await server.call('POST', '/session', undefined, bad);
  assert.match(headers.get('set-cookie') ?? '', /^workron_[\w-]{8}=[\w-]{43}; Path=\/; Max-Age/);
});

test('session: over https its cookie belongs to this host only', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const https = { 'x-forwarded-proto': 'https' };
  const opened = await server.call('POST', '/session', undefined, { authorization: 'Bearer secret', ...https });
  const set = opened.headers.get('set-cookie') ?? '';
  assert.match(set, /^__Host-workron_[\w-]{8}=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/);
  const session = { ...https, cookie: set.split(';', 1)[0] as string, 'x-workron-session': opened.body.key as string };
  assert.equal((await server.call('GET', '/jobs', undefined, session)).status, 200);
  const ended = await server.call('DELETE', '/session', undefined, session);
  assert.match(ended.headers.get('set-cookie') ?? '', /^__Host-workron_[\w-]{8}=; Path=\/; Max-Age=0; .*Secure$/);
  assert.equal((await server.call('GET', '/jobs', undefined, session)).status, 401);
});

test('session: is one of its token only, and logging out ends it on every scheduler', async () => {
  const store = openMemory({ clock: systemClock });
  await using server = await openTestServer({ token: 'secret', store });
  await using second = await openTestServer({ token: 'secret', store });
  await using other = await openTestServer({ token: 'another', store });
  const ours = await openSession(server, 'secret');
  const theirs = await openSession(other, 'another');
  assert.notEqual(ours.cookie.split('=')[0], theirs.cookie.split('=')[0], 'ports of one machine share cookies');
  assert.equal((await other.call('GET', '/jobs', undefined, ours.headers)).status, 401);
  const renamed = ours.cookie.replace(/^[^=]+/, theirs.cookie.split('=')[0] as string);
  assert.equal((await other.call('GET', '/jobs', undefined, { ...ours.headers, cookie: renamed })).status, 401);
  assert.equal((await second.call('GET', '/jobs', undefined, ours.headers)).status, 200);

  const ended = await server.call('DELETE', '/session', undefined, ours.headers);
  assert.match(ended.headers.get('set-cookie') ?? '', /=; Path=\/; Max-Age=0; HttpOnly/);
  assert.equal((await server.call('GET', '/jobs', undefined, ours.headers)).status, 401, 'whoever kept both halves');
  await eventually(async () => (await second.call('GET', '/jobs', undefined, ours.headers)).status === 401);
});

test('session: one of a stored token has its rights and ends with it', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const admin = { authorization: 'Bearer secret' };
  const { body: made } = await server.call('POST', '/tokens', { name: 'ada', role: 'viewer' }, admin);
  const { headers } = await openSession(server, made.token);
  const { body } = await server.call('GET', '/session', undefined, headers);
  assert.deepEqual(body, { name: 'ada', token_needed: true, scopes: ['read'], queues: null });
  assert.equal((await server.call('POST', '/jobs', { command: 'true' }, headers)).status, 403);
  await server.call('DELETE', '/tokens/ada', undefined, admin);
  assert.equal((await server.call('GET', '/jobs', undefined, headers)).status, 401);
  const { body: worker } = await server.call('POST', '/tokens', { name: 'w', role: 'worker' }, admin);
  const refused = await server.call('POST', '/session', undefined, { authorization: `Bearer ${worker.token}` });
  assert.equal(refused.status, 403, 'workers have no page');
});

test('session: a link logs in once, and allows nothing else', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const admin = { authorization: 'Bearer secret' };
  const { body } = await server.call('POST', '/session/links', undefined, admin);
  assert.match(body.path, /^\/ui\/#link=[\w-]{43}$/);
  const code = body.path.split('=')[1] as string;
  const bearer = { authorization: `Bearer ${code}` };
  assert.equal((await server.call('GET', '/jobs', undefined, bearer)).status, 401);
  const { headers } = await openSession(server, code);
  assert.equal((await server.call('GET', '/jobs', undefined, headers)).status, 200);
  assert.equal((await server.call('POST', '/session', undefined, bearer)).status, 401, 'it was used');
});

test('session: a ticket allows one download of one path', async () => {
  await using server = await openTestServer({ token: 'secret' });
  const { headers } = await openSession(server, 'secret');
  const { body: job } = await server.call('POST', '/jobs', { command: 'true' }, headers);
  const path = `/jobs/${job.id}/logs`;
  const ticket = async () => (await server.call('POST', '/session/tickets', { path }, headers)).body.ticket as string;
  const get = async (to: string) => (await server.call('GET', to)).status;
  const one = await ticket();
  assert.equal(await get(`${path}?ticket=${one}`), 200);
  assert.equal(await get(`${path}?ticket=${one}`), 401, 'it was used');
  assert.equal(await get(`/jobs/${job.id}?ticket=${await ticket()}`), 401, 'it is for another path');
  assert.equal((await server.call('POST', `/jobs/${job.id}/cancel?ticket=${await ticket()}`)).status, 401);
  assert.equal(await get(`${path}?attempt=1&ticket=${await ticket()}`), 404, 'there is no attempt');
  for (const bad of ['jobs', '/jobs?x', '', '/#', 7]) {
    assert.equal((await server.call('POST', '/session/tickets', { path: bad }, headers)).status, 400, String(bad));
  }
});

test('session: without a token there is nothing to log in to', async () => {
  await using server = await openTestServer();
  const { body } = await server.call('GET', '/session');
  assert.deepEqual(body, {
    name: 'local',
    token_needed: false,
    scopes: ['read', 'submit', 'operate', 'admin', 'work'],
    queues: null,
  });
  const opened = await server.call('POST', '/session');
  assert.deepEqual([opened.status, opened.headers.get('set-cookie')], [200, null]);
});
