/** What sessions, links and tickets end with: their token, by its row and not by its name, and the session that made them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

const ADMIN = 'a-configured-token-of-many-characters';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
type Headers = Record<string, string>;

/** What was made with a token before it ended. Each of these says with which status it is answered now. */
interface Held {
  session: Headers;
  useSession: () => Promise<number>;
  useLink: () => Promise<number>;
  useTicket: () => Promise<number>;
}

async function logIn(server: TestServer, token: string): Promise<Headers> {
  const opened = await server.call('POST', '/session', undefined, bearer(token));
  assert.equal(opened.status, 200, JSON.stringify(opened.body));
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
  return { cookie, [SESSION_HEADER]: opened.body.key };
}

async function hold(server: TestServer, token: string, used: TestServer = server): Promise<Held> {
  const session = await logIn(server, token);
  const { body: link } = await server.call('POST', '/session/links', undefined, bearer(token));
  const { body: made } = await server.call('POST', '/session/tickets', { path: '/jobs' }, bearer(token));
  const status = async (...call: Parameters<TestServer['call']>) => (await used.call(...call)).status;
  return {
    session,
    useSession: () => status('GET', '/session', undefined, session),
    useLink: () => status('POST', '/session', undefined, bearer(link.path.split('link=')[1])),
    useTicket: () => status('GET', `/jobs?ticket=${made.ticket}`),
  };
}

async function statuses({ useSession, useLink, useTicket }: Held): Promise<number[]> {
  return [await useSession(), await useLink(), await useTicket()];
}

async function makeToken(server: TestServer, role: string): Promise<string> {
  const made = await server.call('POST', '/tokens', { name: 'ada', role }, bearer(ADMIN));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.token;
}

const rotate = async (server: TestServer, overlap: string): Promise<string> =>
  (await server.call('POST', '/tokens/ada/rotate', { overlap }, bearer(ADMIN))).body.token;

test('session end: what a revoked token had made stays ended when its name is used again', async () => {
  const store = openMemory({ clock: systemClock });
  await using server = await openTestServer({ token: ADMIN, store });
  const held = await hold(server, await makeToken(server, 'viewer'));
  const restarted = await hold(server, await makeAgain(server, 'viewer'));
  assert.equal(await held.useSession(), 401);
  await server.call('DELETE', '/tokens/ada', undefined, bearer(ADMIN));
  const token = await makeToken(server, 'operator');
  assert.deepEqual(await statuses(held), [401, 401, 401]);
  assert.deepEqual(await statuses(await hold(server, token)), [200, 200, 200], 'the new token has its own');
  await using other = await openTestServer({ token: ADMIN, store });
  assert.equal((await other.call('GET', '/session', undefined, restarted.session)).status, 401);
});

async function makeAgain(server: TestServer, role: string): Promise<string> {
  await server.call('DELETE', '/tokens/ada', undefined, bearer(ADMIN));
  return await makeToken(server, role);
}

test('session end: what a rotated token had made ends with its overlap, with none at once', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const first = await hold(server, await makeToken(server, 'viewer'));
  const second = await rotate(server, '1h');
  assert.equal(await first.useSession(), 200, 'both tokens are valid');
  const held = await hold(server, second);
  await rotate(server, '0s');
  assert.deepEqual(await statuses(first), [401, 401, 401], 'a second rotation ends the overlap of the first');
  assert.deepEqual(await statuses(held), [401, 401, 401]);
});

test('session end: another scheduler refuses them within seconds', async () => {
  const store = openMemory({ clock: systemClock });
  await using server = await openTestServer({ token: ADMIN, store });
  await using second = await openTestServer({ token: ADMIN, store });
  const held = await hold(server, await makeToken(server, 'viewer'), second);
  assert.equal(await held.useSession(), 200);
  await makeAgain(server, 'admin');
  assert.deepEqual([await held.useLink(), await held.useTicket()], [401, 401], 'nothing of these is cached');
  await eventually(async () => (await held.useSession()) === 401);
});

test('session end: those of the configured token end when it changes', async () => {
  const store = openMemory({ clock: systemClock });
  await using before = await openTestServer({ token: ADMIN, store });
  await using after = await openTestServer({ token: `${ADMIN}-changed`, store });
  await using unchanged = await openTestServer({ token: ADMIN, store });
  assert.deepEqual(await statuses(await hold(before, ADMIN, unchanged)), [200, 200, 200], 'after a restart');
  const held = await hold(before, ADMIN, after);
  assert.deepEqual(await statuses(held), [401, 401, 401]);
  const name = ((await logIn(after, `${ADMIN}-changed`))['cookie'] as string).split('=')[0] as string;
  const renamed = { ...held.session, cookie: (held.session['cookie'] as string).replace(/^[^=]+/, name) };
  assert.equal((await after.call('GET', '/session', undefined, renamed)).status, 401);
});

test('session end: a session opens neither sessions nor links, and its tickets end by logging out', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const session = await logIn(server, await makeToken(server, 'viewer'));
  for (const path of ['/session', '/session/links']) {
    const { status, body } = await server.call('POST', path, undefined, session);
    assert.equal(status, 403, `${path}: ${JSON.stringify(body)}`);
  }
  const ticket = async () => (await server.call('POST', '/session/tickets', { path: '/jobs' }, session)).body.ticket;
  const [used, kept] = [await ticket(), await ticket()];
  assert.equal((await server.call('GET', `/jobs?ticket=${used}`)).status, 200);
  await server.call('DELETE', '/session', undefined, session);
  assert.equal((await server.call('GET', `/jobs?ticket=${kept}`)).status, 401);
});

test('session end: a download by a ticket ends with the session that made it', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const { body: job } = await server.call('POST', '/jobs', { command: 'true', delay: '1h' }, bearer(ADMIN));
  const session = await logIn(server, await makeToken(server, 'viewer'));
  const path = `/jobs/${job.id}/logs`;
  const { body } = await server.call('POST', '/session/tickets', { path }, session);
  const response = await fetch(`${server.url}${path}?follow=true&ticket=${body.ticket}`);
  assert.equal(response.status, 200);
  await server.call('DELETE', '/session', undefined, session);
  await response.text().catch(() => undefined);
});
