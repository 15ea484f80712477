/** What is open when its token or session ends. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

const ADMIN = 'a-configured-token-of-many-characters';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
type Headers = Record<string, string>;

async function tokenFor(server: TestServer, body: { name: string; role: string }): Promise<Headers> {
  const made = await server.call('POST', '/tokens', body, bearer(ADMIN));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return bearer(made.body.token);
}

/** Opens a stream. `ended` resolves with it, however it ends. */
async function openStream(server: TestServer, path: string, headers: Headers): Promise<{ ended: Promise<unknown> }> {
  const response = await fetch(server.url + path, { headers });
  assert.equal(response.status, 200, path);
  return { ended: response.text().catch(() => undefined) };
}

async function logIn(server: TestServer, headers: Headers): Promise<Headers> {
  const opened = await server.call('POST', '/session', undefined, headers);
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
  return { cookie, [SESSION_HEADER]: opened.body.key };
}

test('ended access: a worker that waits for jobs gets none after its token was revoked', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const worker = await tokenFor(server, { name: 'taken-over', role: 'worker' });
  const { body: registered } = await server.call('POST', '/workers/register', { name: 'w' }, worker);
  const nudges = await openStream(server, `/workers/${registered.worker_id}/nudges`, worker);
  const claim = { worker_id: registered.worker_id, wait: '60s' };
  const claimed = server.call('POST', '/jobs/claim', claim, worker);
  await server.call('DELETE', '/tokens/taken-over', undefined, bearer(ADMIN));
  const [answer] = await Promise.all([claimed, nudges.ended]);
  assert.equal(answer.status, 401, JSON.stringify(answer.body));
  const { body: job } = await server.call('POST', '/jobs', { command: 'true' }, bearer(ADMIN));
  const read = await server.call('GET', `/jobs/${job.id}`, undefined, bearer(ADMIN));
  assert.equal(read.body.status, 'pending');
});

test('ended access: streams and waits end with their token, session or ticket; those of others go on', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const { body: job } = await server.call('POST', '/jobs', { command: 'true', delay: '1h' }, bearer(ADMIN));
  const path = `/jobs/${job.id}/logs`;
  const viewer = await tokenFor(server, { name: 'gone', role: 'viewer' });
  const other = await tokenFor(server, { name: 'other', role: 'viewer' });
  const session = await logIn(server, other);
  const kept = await logIn(server, other);
  const { body } = await server.call('POST', '/session/tickets', { path }, viewer);
  let othersEnded = 0;
  for (const headers of [other, kept, bearer(ADMIN)]) {
    const { ended } = await openStream(server, '/events', headers);
    void ended.then(() => (othersEnded += 1));
  }
  const ends = [
    await openStream(server, '/events', viewer),
    await openStream(server, `${path}?follow=true`, viewer),
    await openStream(server, `${path}?follow=true&ticket=${body.ticket}`, {}),
    await openStream(server, '/events', await logIn(server, viewer)),
    await openStream(server, '/events', session),
  ];
  const waits = server.call('GET', `/jobs/${job.id}/wait?timeout=10m`, undefined, viewer);
  await server.call('DELETE', '/tokens/gone', undefined, bearer(ADMIN));
  assert.equal((await server.call('DELETE', '/session', undefined, session)).status, 200);
  await Promise.all(ends.map(({ ended }) => ended));
  assert.equal((await waits).status, 401);
  assert.equal(othersEnded, 0);
});
