/** A proxy in front that signs people in: whom it is believed, and whom nobody else is. */

import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { test } from 'node:test';
import type { ProxyOptions } from '../../src/http/trusted-proxy.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

const TOKEN = 'a-configured-token-of-many-characters';
const ADMIN = { authorization: `Bearer ${TOKEN}` };
const PROXY: ProxyOptions = {
  peers: ['127.0.0.1', '10.0.0.0/8'],
  userHeader: 'x-forwarded-email',
  roles: [
    { pattern: 'ada@example.org', role: 'admin' },
    { pattern: 'ci-*@example.org', role: 'submitter' },
    { pattern: '*@example.org', role: 'viewer' },
  ],
};
const ELSEWHERE = { ...PROXY, peers: ['10.0.0.1', '::2'] };

const open = (proxy: ProxyOptions, more: { maxGuesses?: number } = {}) =>
  openTestServer({ token: TOKEN, proxy, ...more });
const as = (email: string, more: Record<string, string> = {}) => ({ 'x-forwarded-email': email, ...more });
const job = { command: 'true', delay: '1h' };

/** Sends headers as they are, also several of one name. */
function raw(server: TestServer, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = send(`${server.url}/session`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('proxy: a user whom it names has the role of the first rule that matches', async () => {
  await using server = await open(PROXY);
  const scopesOf = async (email: string) => (await server.call('GET', '/session', undefined, as(email))).body.scopes;
  assert.deepEqual(await scopesOf('ada@example.org'), ['read', 'submit', 'operate', 'admin', 'work']);
  assert.deepEqual(await scopesOf('ci-7@example.org'), ['read', 'submit']);
  assert.deepEqual(await scopesOf('bob@example.org'), ['read']);
  assert.equal((await server.call('POST', '/jobs', job, as('bob@example.org'))).status, 403);
  const { body } = await server.call('POST', '/jobs', job, as('ci-7@example.org'));
  assert.equal(body.submitted_by, 'ci-7@example.org');
  await server.call('POST', `/jobs/${body.id}/cancel`, undefined, as('ada@example.org'));
  const [entry] = (await server.call('GET', '/audit', undefined, ADMIN)).body.items;
  assert.deepEqual([entry.actor, entry.action, entry.result], ['ada@example.org', 'job.cancel', 'ok']);
  const { body: session } = await server.call('GET', '/session', undefined, as('bob@example.org'));
  assert.deepEqual([session.name, session.token_needed], ['bob@example.org', false], 'nothing to log out of');
  assert.equal((await server.call('POST', '/session', undefined, as('ada@example.org'))).status, 403);
});

test('proxy: the header of anybody else is ignored', async () => {
  for (const proxy of [ELSEWHERE, { ...PROXY, peers: [] }, { ...PROXY, userHeader: null }]) {
    await using server = await open(proxy);
    assert.equal((await server.call('GET', '/jobs', undefined, as('ada@example.org'))).status, 401);
    assert.equal((await server.call('GET', '/jobs', undefined, { ...ADMIN, ...as('bob@example.org') })).status, 200);
  }
});

test('proxy: two names, malformed names and users without a role are refused', async () => {
  await using server = await open(PROXY);
  const ada = 'ada@example.org';
  assert.equal(await raw(server, { 'x-forwarded-email': [ada, 'bob@example.org'] }), 400);
  assert.equal(await raw(server, { 'x-forwarded-email': [ada, ada] }), 400);
  for (const name of [
    `${ada}, bob@example.org`,
    'a b@example.org',
    `${'a'.repeat(128)}@example.org`,
    'a\u00a0@example.org',
  ]) {
    assert.equal(await raw(server, { 'x-forwarded-email': name }), 400, name);
  }
  for (const name of ['eve@example.com', 'token', 'local', 'ada@example.org.evil.com', 'xada@example.orgx']) {
    assert.equal(await raw(server, { 'x-forwarded-email': name }), 403, name);
  }
  assert.equal(await raw(server, { 'x-forwarded-email': '' }), 401);
  assert.equal(await raw(server, { 'x-forwarded-user': ada }), 401);
});

test('proxy: a token counts before the user, and a wrong one is not replaced by the user', async () => {
  await using server = await open(PROXY);
  const session = async (headers: Record<string, string>) => await server.call('GET', '/session', undefined, headers);
  assert.equal((await session({ ...ADMIN, ...as('bob@example.org') })).body.name, 'token');
  assert.equal((await session({ authorization: 'Bearer wrong', ...as('ada@example.org') })).status, 401);
});

test('proxy: pages of other origins cannot use the sign-in of a browser', async () => {
  await using server = await open(PROXY);
  const ada = (headers: Record<string, string>) =>
    server.call('POST', '/jobs', job, as('ada@example.org', { 'content-type': 'application/json', ...headers }));
  assert.equal((await ada({ 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal((await ada({ origin: 'https://evil.example' })).status, 403);
  const read = await server.call('GET', '/jobs', undefined, as('ada@example.org', { 'sec-fetch-site': 'same-site' }));
  assert.equal(read.status, 401);
  assert.equal((await ada({ 'sec-fetch-site': 'same-origin', origin: server.url })).status, 201);
});

test('proxy: the address of a caller is what trusted proxies added, never what the caller wrote', async () => {
  const addressOf = async (server: TestServer, forwarded: string) => {
    await server.call('PATCH', '/queues/mail', { paused: true }, { ...ADMIN, 'x-forwarded-for': forwarded });
    return (await server.call('GET', '/audit?limit=1', undefined, ADMIN)).body.items[0].address;
  };
  await using server = await open(PROXY);
  assert.equal(await addressOf(server, '203.0.113.9'), '203.0.113.9');
  assert.equal(await addressOf(server, '6.6.6.6, 203.0.113.9'), '203.0.113.9', 'the caller wrote the first');
  assert.equal(await addressOf(server, '6.6.6.6, 203.0.113.9, 10.1.2.3'), '203.0.113.9', 'two proxies');
  assert.equal(await addressOf(server, '::ffff:203.0.113.9'), '203.0.113.9');
  assert.equal(await addressOf(server, '2001:db8::1'), '2001:db8::1');
  for (const malformed of ['', 'unknown', '203.0.113.9, x', '10.0.0.1', '203.0.113.9:80']) {
    assert.equal(await addressOf(server, malformed), '127.0.0.1', malformed);
  }
  await using other = await open(ELSEWHERE);
  assert.equal(await addressOf(other, '203.0.113.9'), '127.0.0.1');
});

test('proxy: wrong tokens are counted by the forwarded address of a trusted proxy only', async () => {
  const guess = async (server: TestServer, from: string) =>
    (await server.call('GET', '/jobs', undefined, { authorization: 'Bearer wrong', 'x-forwarded-for': from })).status;
  await using server = await open(PROXY, { maxGuesses: 1 });
  assert.equal(await guess(server, '203.0.113.1'), 401);
  assert.equal(await guess(server, '203.0.113.1'), 429);
  assert.equal(await guess(server, '203.0.113.2'), 401);
  await using other = await open(ELSEWHERE, { maxGuesses: 1 });
  assert.equal(await guess(other, '203.0.113.1'), 401);
  assert.equal(await guess(other, '203.0.113.2'), 429, 'a forged address is no other source');
});
