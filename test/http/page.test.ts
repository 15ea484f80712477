/** The dashboard's files and the page's session, over the wire. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTestServer } from '../kit/http.ts';
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

test('session: the token buys a cookie that no script sees and no other site sends', async () => {
  let now = Date.now();
  await using server = await openTestServer({ token: 'secret', now: () => now });
  assert.equal((await server.call('POST', '/session')).status, 401);
  assert.equal((await server.call('POST', '/session', undefined, { authorization: 'Bearer wrong' })).status, 401);
  const opened = await server.call('POST', '/session', undefined, { authorization: 'Bearer secret' });
  assert.equal(opened.status, 200);
  const set = opened.headers.get('set-cookie') ?? '';
  assert.match(set, /; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
  assert.doesNotMatch(set, /secret/);
  const cookie = set.split(';', 1)[0] as string;

  const status = async (headers: Record<string, string>) =>
    (await server.call('GET', '/jobs', undefined, headers)).status;
  assert.equal(await status({ cookie }), 200);
  assert.equal(await status({ cookie: `other=1; ${cookie}` }), 200);
  assert.equal(await status({ cookie, 'sec-fetch-site': 'same-origin' }), 200);
  assert.equal(await status({ cookie, 'sec-fetch-site': 'same-site' }), 401, 'another port of this machine');
  assert.equal(await status({ cookie, 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await status({ cookie, authorization: 'Bearer wrong' }), 401, 'what is said counts, not what clings');
  assert.equal(await status({ cookie: `${cookie}x` }), 401);
  assert.equal(await status({ cookie: cookie.replace(/=\d/, '=9') }), 401, 'a later end is not ours to believe');
  now += 8 * 86_400_000;
  assert.equal(await status({ cookie }), 401, 'over');
});

test('session: is one of its token only, and is forgotten on request', async () => {
  await using server = await openTestServer({ token: 'secret' });
  await using other = await openTestServer({ token: 'another' });
  const open = async (to: typeof server, token: string) =>
    (
      (await to.call('POST', '/session', undefined, { authorization: `Bearer ${token}` })).headers.get('set-cookie') ??
      ''
    ).split(';', 1)[0] as string;
  const ours = await open(server, 'secret');
  const theirs = await open(other, 'another');
  assert.notEqual(ours.split('=')[0], theirs.split('=')[0], 'ports of one machine share cookies');
  assert.equal((await other.call('GET', '/jobs', undefined, { cookie: ours })).status, 401);
  assert.equal(
    (await server.call('GET', '/session', undefined, { cookie: `${theirs}; ${ours}` })).body.token_needed,
    true,
  );
  const ended = await server.call('DELETE', '/session', undefined, { cookie: ours });
  assert.match(ended.headers.get('set-cookie') ?? '', /=; Path=\/; Max-Age=0; HttpOnly/);
});

test('session: without a token there is nothing to log in to', async () => {
  await using server = await openTestServer();
  const { body } = await server.call('GET', '/session');
  assert.deepEqual(body, { name: 'local', token_needed: false });
  const opened = await server.call('POST', '/session');
  assert.deepEqual([opened.status, opened.headers.get('set-cookie')], [200, null]);
});
