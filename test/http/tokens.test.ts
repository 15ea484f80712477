/** Tokens of the store: what each role may do, and what it must not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathOf, ROLE_SCOPES, type Route, type Scope } from '../../src/api/route.ts';
import { routes } from '../../src/api/routes.ts';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { TOKEN_ROLES, type TokenRole } from '../../src/core/token.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { derivedFromHash, derivedToken, hashToken } from '../../src/ops/token-text.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

const ADMIN = 'a-configured-token-of-many-characters';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

interface Wanted {
  role: TokenRole;
  queues?: string[];
  name?: string;
}

/** Makes a token and returns calls with it. */
async function caller(server: TestServer, { role, queues, name = role }: Wanted) {
  const body = { name, role, ...(queues && { queues }) };
  const made = await server.call('POST', '/tokens', body, bearer(ADMIN));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const token = made.body.token as string;
  const call = (method: string, path: string, sent?: unknown) => server.call(method, path, sent, bearer(token));
  return { token, call };
}

const admin = (server: TestServer) => (method: string, path: string, body?: unknown) =>
  server.call(method, path, body, bearer(ADMIN));

test('tokens: one is shown once, and never again', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const { body } = await admin(server)('POST', '/tokens', { name: 'ci', role: 'viewer', expires: '90d' });
  assert.match(body.token, /^wkr_[\w-]{43}$/);
  assert.deepEqual(
    [body.name, body.role, body.queues, body.valid, body.created_by],
    ['ci', 'viewer', null, true, 'token'],
  );
  assert.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 90 * 86_400_000);
  const listed = await admin(server)('GET', '/tokens');
  assert.equal(listed.body.items.length, 1);
  assert.ok(!JSON.stringify(listed.body).includes(body.token));
  assert.equal((await admin(server)('POST', '/tokens', { name: 'ci', role: 'admin' })).body.code, 'token_exists');
});

test('tokens: each role may call the routes of its scopes and no others', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const expected: Record<TokenRole, Scope[]> = {
    viewer: ['read'],
    submitter: ['read', 'submit'],
    operator: ['read', 'submit', 'operate'],
    admin: ['read', 'submit', 'operate', 'admin', 'work'],
    worker: ['work'],
  };
  assert.deepEqual(ROLE_SCOPES, expected);
  for (const role of TOKEN_ROLES) {
    const { token } = await caller(server, { role });
    for (const route of Object.values(routes) as Route[]) {
      if (route.scope === null) continue;
      const isStream = route === routes.streamEvents || route === routes.nudgeWorker;
      if (isStream && expected[role].includes(route.scope)) continue;
      const path = pathOf(route, { id: '999999', name: 'nothing' } as never);
      const { status, body } = await server.call(
        route.method,
        path,
        route.method === 'GET' ? undefined : {},
        bearer(token),
      );
      const story = `${role} ${route.method} ${path} → ${status} ${JSON.stringify(body)}`;
      assert.notEqual(status, 401, story);
      if (!expected[role].includes(route.scope) && !route.forHolder) assert.equal(status, 403, story);
      else if (expected[role].includes(route.scope)) assert.notEqual(status, 403, story);
    }
  }
});

test('tokens: a malformed one is refused with a reason, and nothing is stored', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const bad = [
    {},
    { name: 'ci' },
    { name: 'ci', role: 'root' },
    { name: '', role: 'viewer' },
    { name: 'Ada Lovelace', role: 'viewer' },
    { name: 'token', role: 'viewer' },
    { name: 'local', role: 'viewer' },
    { name: 'a'.repeat(129), role: 'viewer' },
    { name: 'ci', role: 'viewer', queues: ['a'] },
    { name: 'ci', role: 'operator', queues: ['a'] },
    { name: 'ci', role: 'worker', queues: [] },
    { name: 'ci', role: 'worker', queues: [''] },
    { name: 'ci', role: 'viewer', expires: 'soon' },
    { name: 'ci', role: 'viewer', expires: 0 },
    { name: 'ci', role: 'viewer', hash: 'x' },
  ];
  for (const body of bad) {
    const answer = await admin(server)('POST', '/tokens', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
  }
  assert.deepEqual((await admin(server)('GET', '/tokens')).body.items, []);
  assert.equal((await admin(server)('POST', '/tokens/none/rotate')).body.code, 'token_not_found');
  assert.equal((await admin(server)('DELETE', '/tokens/none')).body.code, 'token_not_found');
});

test('tokens: one works at once and is refused after its revocation, also by another scheduler on the store', async () => {
  const store = openMemory({ clock: systemClock });
  await using one = await openTestServer({ token: ADMIN, store });
  await using two = await openTestServer({ token: 'another-configured-token', store });
  const viewer = await caller(one, { role: 'viewer' });
  assert.equal((await two.call('GET', '/jobs', undefined, bearer(viewer.token))).status, 200);
  // Not in the other's cache yet, although that is fresh.
  const second = await caller(one, { role: 'viewer', name: 'second' });
  assert.equal((await two.call('GET', '/jobs', undefined, bearer(second.token))).status, 200);

  assert.deepEqual((await admin(one)('DELETE', '/tokens/viewer')).body, { revoked: 1 });
  assert.equal((await viewer.call('GET', '/jobs')).status, 401, 'here at once');
  const deadline = performance.now() + 10_000;
  let refused = false;
  while (!refused && performance.now() < deadline) {
    refused = (await two.call('GET', '/jobs', undefined, bearer(viewer.token))).status === 401;
  }
  assert.ok(refused, 'there within seconds');
  assert.equal((await second.call('GET', '/jobs')).status, 200, 'the other one is still valid');
});

test('tokens: after a rotation the old and the new one are the same caller', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const old = await caller(server, { role: 'submitter', queues: ['mail'], name: 'app' });
  const rotated = await admin(server)('POST', '/tokens/app/rotate', { overlap: '1h' });
  assert.equal(rotated.status, 201);
  assert.deepEqual([rotated.body.role, rotated.body.queues], ['submitter', ['mail']]);
  const job = { command: 'true', queue: 'mail' };
  const key = { 'idempotency-key': 'once' };
  const first = await server.call('POST', '/jobs', job, { ...bearer(old.token), ...key });
  const again = await server.call('POST', '/jobs', job, { ...bearer(rotated.body.token), ...key });
  assert.deepEqual([first.status, again.status, again.body.id], [201, 201, first.body.id]);
  assert.deepEqual((await admin(server)('DELETE', '/tokens/app')).body, { revoked: 2 });
  assert.equal((await old.call('GET', '/jobs')).status, 401);
  assert.equal((await server.call('GET', '/jobs', undefined, bearer(rotated.body.token))).status, 401);
});

test('tokens: a submitter with queues submits to no other, in any way', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const all = admin(server);
  const { call } = await caller(server, { role: 'submitter', queues: ['mail'] });
  const [mail, other] = [
    { command: 'true', queue: 'mail' },
    { command: 'true', queue: 'other' },
  ];
  const foreignJob = (await all('POST', '/jobs', other)).body.id;
  const ownJob = (await all('POST', '/jobs', mail)).body.id;
  const foreignFlow = (await all('POST', '/workflows', { name: 'w', steps: [{ key: 'a', ...other }] })).body.id;
  const timing = { cron: '0 0 1 1 *' };
  await all('POST', '/schedules', { name: 'foreign', ...timing, job: other });
  await all('POST', '/schedules', { name: 'own', ...timing, job: mail });
  const command = [{ on: ['failed'], command: 'id' }];

  const refused: [string, string, unknown][] = [
    ['POST', '/jobs', other],
    ['POST', '/jobs', { command: 'true' }],
    ['POST', '/jobs', [mail, other]],
    ['POST', '/jobs', { ...mail, notify: command }],
    ['POST', `/jobs/${foreignJob}/rerun`, {}],
    [
      'POST',
      '/workflows',
      {
        name: 'w',
        steps: [
          { key: 'a', ...mail },
          { key: 'b', ...other },
        ],
      },
    ],
    ['POST', '/workflows', { name: 'w', notify: command, steps: [{ key: 'a', ...mail }] }],
    ['POST', `/workflows/${foreignFlow}/rerun`, { from: 'a' }],
    ['POST', '/schedules', { name: 's', ...timing, job: other }],
    ['POST', '/schedules', { name: 's', ...timing, job: mail, notify: command }],
    ['POST', '/schedules', { name: 's', ...timing, workflow: { name: 'w', steps: [{ key: 'a', ...other }] } }],
    ['PUT', '/schedules/foreign', { ...timing, job: mail }],
    ['PUT', '/schedules/own', { ...timing, job: other }],
    ['PATCH', '/schedules/foreign', { jitter: '1m' }],
    ['PATCH', '/schedules/foreign', { job: { queue: 'mail' } }],
    ['PATCH', '/schedules/own', { job: { queue: 'other' } }],
    ['PATCH', '/schedules/own', { notify: command }],
    ['POST', '/schedules/foreign/run', {}],
    ['POST', '/schedules/foreign/backfill', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }],
  ];
  const before = (await all('GET', '/jobs')).body.items.length;
  for (const [method, path, body] of refused) {
    const answer = await call(method, path, body);
    assert.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(body)} → ${JSON.stringify(answer.body)}`);
    assert.match(answer.body.detail, /may not use the queue (other|default|workron\.notify), only mail/);
  }
  assert.equal((await all('GET', '/jobs')).body.items.length, before, 'nothing was submitted');
  assert.equal((await all('GET', '/schedules')).body.items.length, 2);

  const allowed: [string, string, unknown][] = [
    ['POST', '/jobs', mail],
    ['POST', '/jobs', [mail, { ...mail, notify: [{ on: ['failed'], webhook: 'https://hooks.example/x' }] }]],
    ['POST', `/jobs/${ownJob}/rerun`, {}],
    ['POST', '/workflows', { name: 'w', steps: [{ key: 'a', ...mail }] }],
    ['PATCH', '/schedules/own', { job: { priority: 3 } }],
    ['POST', '/schedules/own/run', {}],
    ['PUT', '/schedules/new', { ...timing, job: mail }],
  ];
  for (const [method, path, body] of allowed) {
    const answer = await call(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path} → ${JSON.stringify(answer.body)}`);
  }
});

test('tokens: a worker claims only from its queues', async () => {
  await using server = await openTestServer({ token: ADMIN });
  await admin(server)('POST', '/jobs', [
    { command: 'a', queue: 'render' },
    { command: 'b', queue: 'other', priority: 9 },
  ]);
  const { call } = await caller(server, { role: 'worker', queues: ['render'] });
  assert.equal((await call('POST', '/workers/register', { name: 'w', queues: ['other'] })).status, 403);
  const { body: registered } = await call('POST', '/workers/register', { name: 'w' });
  const worker_id = registered.worker_id;
  assert.equal((await call('POST', '/jobs/claim', { worker_id, queues: ['other'] })).status, 403);
  const claimed = await call('POST', '/jobs/claim', { worker_id, limit: 10 });
  assert.deepEqual(
    claimed.body.items.map((job: { queue: string }) => job.queue),
    ['render'],
  );
  const [listed] = (await admin(server)('GET', '/workers')).body.items;
  assert.deepEqual([listed.queues, listed.registered_by], [['render'], 'worker']);
});

test('tokens: a worker acts only as the workers that it registered', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const mine = await caller(server, { role: 'worker', name: 'mine' });
  const other = await caller(server, { role: 'worker', name: 'other' });
  const { body: registered } = await other.call('POST', '/workers/register', { name: 'w' });
  const id = registered.worker_id as string;
  const job = (await admin(server)('POST', '/jobs', { command: 'true', env: { PASSWORD: 'x' } })).body.id;
  const held = (await other.call('POST', '/jobs/claim', { worker_id: id })).body.items[0];
  assert.deepEqual([held.id, held.env.PASSWORD], [job, 'x'], 'the holder gets the values of env');

  const bodies: Partial<Record<keyof typeof routes, unknown>> = {
    claimJobs: { worker_id: id },
    endClaimWait: { claim_seq: 1 },
    doneJob: { worker_id: id, attempt: 1 },
    failJob: { worker_id: id, attempt: 1, error: 'x' },
    settleJobs: { items: [{ job_id: job, attempt: 1, outcome: { type: 'succeeded' } }] },
    writeReport: { items: [] },
    writeSteps: { items: [] },
  };
  for (const [name, route] of Object.entries(routes) as [keyof typeof routes, Route][]) {
    if (route.scope !== 'work' || name === 'registerWorker') continue;
    const path = pathOf(route, { id: route.path.startsWith('/jobs') ? job : id } as never);
    const uploads: readonly string[] = ['writeLogs', 'writeCheckpoint'];
    const query = uploads.includes(name) ? `?worker_id=${id}&attempt=1${name === 'writeLogs' ? '&offset=0' : ''}` : '';
    const answer = await mine.call(
      route.method,
      path + query,
      route.method === 'GET' ? undefined : (bodies[name] ?? {}),
    );
    assert.equal(answer.status, 403, `${name} → ${JSON.stringify(answer.body)}`);
    assert.match(answer.body.detail, /was not registered by mine/, name);
  }
  assert.equal((await mine.call('GET', `/jobs/${job}/checkpoint`)).status, 403);
  assert.equal((await other.call('GET', `/jobs/${job}/checkpoint`)).status, 404, 'there is none, which it may know');
  assert.equal((await mine.call('GET', `/jobs/${job}`)).status, 403);
  const done = await other.call('POST', `/jobs/${job}/done`, { worker_id: id, attempt: 1 });
  assert.equal(done.status, 200, 'nothing of that reached the job');
});

test('tokens: one that is derived from a stored token allows one request as the same caller', async () => {
  await using server = await openTestServer({ token: ADMIN });
  const worker = await caller(server, { role: 'worker' });
  const { body: registered } = await worker.call('POST', '/workers/register', { name: 'w' });
  const path = `/workers/${registered.worker_id}/gone`;
  const derived = derivedToken(worker.token, `POST ${path}`);
  assert.ok(!derived.includes(worker.token.slice(4)));
  const send = (method: string, to: string) =>
    server.call(method, to, method === 'GET' ? undefined : {}, bearer(derived));
  assert.equal((await send('GET', '/jobs')).status, 401);
  assert.equal((await send('POST', `/workers/${registered.worker_id}/leave`)).status, 401);
  assert.equal((await send('POST', path)).status, 200);
  await admin(server)('DELETE', '/tokens/worker');
  assert.equal((await send('POST', path)).status, 401, 'it ends with its token');
});

test('tokens: one that is derived gives no role the rights of a worker, nor those who know its hash', async () => {
  await using server = await openTestServer({ token: ADMIN, maxGuesses: 100 });
  for (const role of TOKEN_ROLES) {
    const { token } = await caller(server, { role });
    const derived = (line: string) => [derivedToken(token, line), derivedFromHash(hashToken(token), line)];
    for (const one of derived('POST /workers/register')) {
      assert.equal((await server.call('POST', '/workers/register', { name: 'w' }, bearer(one))).status, 401, role);
    }
    for (const one of derived('POST /jobs/claim')) {
      assert.equal((await server.call('POST', '/jobs/claim', { worker_id: '1' }, bearer(one))).status, 401, role);
    }
    const [gone = ''] = derived('POST /workers/1/gone');
    const mayWork = ROLE_SCOPES[role].includes('work');
    assert.equal((await server.call('POST', '/workers/1/gone', {}, bearer(gone))).status, mayWork ? 404 : 403, role);
  }
  const configured = derivedToken(ADMIN, 'POST /jobs/claim');
  assert.equal((await server.call('POST', '/jobs/claim', { worker_id: '1' }, bearer(configured))).status, 401);
});

test('tokens: wrong ones of their form are limited as others are, and cause few reads', async () => {
  const store = openMemory({ clock: systemClock });
  let reads = 0;
  const counted = {
    ...store,
    async validTokens(signal: AbortSignal) {
      reads += 1;
      await setTimeout(20);
      return store.validTokens(signal);
    },
  };
  await using server = await openTestServer({ token: ADMIN, store: counted, maxGuesses: 5 });
  const valid = await caller(server, { role: 'viewer' });
  const guesses = Array.from({ length: 200 }, (_, index) => `wkr_${String(index).padStart(43, '0')}`);
  const answers = await Promise.all(guesses.map((guess) => server.call('GET', '/jobs', undefined, bearer(guess))));
  const statuses = new Set(answers.map(({ status }) => status));
  assert.deepEqual(statuses, new Set([401, 429]));
  assert.ok(reads < 100, `${reads} reads`);
  assert.equal((await valid.call('GET', '/jobs')).status, 200, 'a valid one is never refused because of them');
});

/** A memory store whose next answer to a kind of call, once `hold` was called, comes when `release` is. */
function holdingBack(name: 'validTokens' | 'useSession') {
  const store = openMemory({ clock: systemClock });
  const inner = store[name] as (...args: unknown[]) => Promise<unknown>;
  const gate = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  let isHolding = false;
  const late = async (...args: unknown[]) => {
    const answer = await inner(...args);
    if (!isHolding) return answer;
    isHolding = false;
    read.resolve();
    await gate.promise;
    return answer;
  };
  const hold = () => (isHolding = true);
  return { store: { ...store, [name]: late }, hold, hasRead: read.promise, release: () => gate.resolve() };
}

test('tokens: one is refused after its revocation, also if the valid ones were being read meanwhile', async () => {
  const { store, hold, hasRead, release } = holdingBack('validTokens');
  await using server = await openTestServer({ token: ADMIN, store });
  const { call } = await caller(server, { role: 'viewer', name: 'ada' });
  assert.equal((await call('GET', '/jobs')).status, 200);
  hold();
  const stranger = server.call('GET', '/jobs', undefined, bearer(`wkr_${'x'.repeat(43)}`));
  await hasRead;
  assert.equal((await server.call('DELETE', '/tokens/ada', undefined, bearer(ADMIN))).status, 200);
  release();
  assert.equal((await stranger).status, 401);
  assert.equal((await call('GET', '/jobs')).status, 401);
});

test('sessions: one is refused after it was logged out, also if it was being read meanwhile', async () => {
  const { store, hold, hasRead, release } = holdingBack('useSession');
  await using server = await openTestServer({ token: ADMIN, store });
  const { headers, body } = await server.call('POST', '/session', undefined, bearer(ADMIN));
  const halves = { cookie: headers.get('set-cookie')?.split(';', 1)[0] ?? '', [SESSION_HEADER]: String(body.key) };
  const call = (method: string, path: string) => server.call(method, path, undefined, halves);
  hold();
  const reading = call('GET', '/jobs');
  await hasRead;
  assert.equal((await call('DELETE', '/session')).status, 200);
  release();
  await reading;
  assert.equal((await call('GET', '/jobs')).status, 401);
});
