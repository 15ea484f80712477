import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aWorker } from '../../contract/kit/builders.ts';
import { forever } from '../../contract/kit/steps.ts';
import { decodeFrames, encodeFrames } from '../../src/api/output.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';

test('register: protocol 1, a new id each time, fields of a newer worker are ignored', async () => {
  await using server = await openTestServer();
  const first = await server.call('POST', '/workers/register', { name: 'w', from_the_future: true });
  assert.deepEqual(
    [first.status, first.body],
    [201, { protocol: 1, worker_id: first.body.worker_id, lease: 30_000, heartbeat: 5_000 }],
  );
  const second = await server.call('POST', '/workers/register', { protocol: 1, name: 'w', tags: ['gpu'], slots: 2 });
  assert.notEqual(second.body.worker_id, first.body.worker_id);
  const { body } = await server.call('GET', '/workers');
  const worker = body.items.find((each: { id: string }) => each.id === second.body.worker_id);
  assert.deepEqual([worker.state, worker.attachment, worker.tags, worker.slots], ['online', 'remote', ['gpu'], 2]);
  const newer = await server.call('POST', '/workers/register', { protocol: 2, name: 'w' });
  assert.match(newer.body.detail, /protocol 1/);
  for (const bad of [
    {},
    { name: '' },
    { name: 'w', slots: 0 },
    { name: 'w', resources: { gpu: -1 } },
    { name: 'a\0' },
  ]) {
    assert.equal((await server.call('POST', '/workers/register', bad)).status, 400, JSON.stringify(bad));
  }
});

test('register: a worker’s token has at most 1000 workers online, and leaves room for others', async () => {
  const store = openMemory({ clock: systemClock });
  await using server = await openTestServer({ token: 'secret', store });
  const tokenOf = async (name: string) => {
    const { body } = await server.call('POST', '/tokens', { name, role: 'worker' }, { authorization: 'Bearer secret' });
    return { authorization: `Bearer ${body.token}` };
  };
  const [ada, bob] = [await tokenOf('ada'), await tokenOf('bob')];
  const register = (headers: Record<string, string>) =>
    server.call('POST', '/workers/register', { name: 'w' }, headers);
  for (let made = 0; made < 999; made += 1) {
    await store.registerWorker(aWorker({ registeredBy: 'ada', leaseMs: 3_600_000 }), forever);
  }
  const last = await register(ada);
  assert.equal(last.status, 201);
  const refused = await register(ada);
  assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_requests']);
  assert.match(refused.body.detail, /1000 workers of ada are online already/);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal((await register(bob)).status, 201);
  await server.call('POST', `/workers/${last.body.worker_id}/leave`, {}, ada);
  assert.equal((await register(ada)).status, 201, 'one has left');
});

test('claim: jobs with all that it takes to run them, env values too', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', [
    { command: 'b', priority: 1 },
    { command: 'a', priority: 2, env: { SECRET: 'hunter2' }, requires: ['gpu'] },
  ]);
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  const { worker_id } = worker;
  const { body } = await server.call('POST', '/jobs/claim', {
    worker_id,
    limit: 5,
    tags: ['gpu'],
    claim_seq: 1,
    new: 1,
  });
  assert.deepEqual(
    body.items.map((job: Record<string, unknown>) => [job['command'], job['attempt'], job['env']]),
    [
      ['a', 1, { SECRET: 'hunter2' }],
      ['b', 1, {}],
    ],
  );
  assert.deepEqual((await server.call('POST', '/jobs/claim', { worker_id })).body, { items: [] });
  const stranger = await server.call('POST', '/jobs/claim', { worker_id: '999' });
  assert.deepEqual([stranger.status, stranger.body.code], [404, 'worker_not_found']);
  for (const bad of [{}, { worker_id: 1 }, { worker_id, limit: 0 }, { worker_id, wait: 'long' }]) {
    assert.equal((await server.call('POST', '/jobs/claim', bad)).status, 400, JSON.stringify(bad));
  }
});

test('heartbeat: an empty body renews everything; an unlisted lease of a seen claim goes back', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a' });
  const { worker, id, attempt } = await claimOverHttp(server);
  const path = `/workers/${worker}/heartbeat`;
  assert.deepEqual((await server.call('POST', path)).body, { cancel: [], lost: [], drain: false });
  await server.call('POST', `/jobs/${id}/cancel`);
  const lease = { job_id: id, attempt };
  const { body } = await server.call('POST', path, { leases: [lease, { job_id: '999', attempt: 1 }] });
  assert.deepEqual(body, { cancel: [lease], lost: [{ job_id: '999', attempt: 1 }], drain: false });
  await server.call('POST', `/workers/${worker}/drain`);
  assert.equal((await server.call('POST', path, {})).body.drain, true);
  assert.equal((await server.call('POST', `/workers/${worker}/undrain`)).body.state, 'online');
  assert.equal((await server.call('POST', path, {})).body.drain, false);
  assert.equal((await server.call('POST', `/workers/${worker}/undrain`, { when: 'now' })).status, 400);
  assert.equal((await server.call('POST', '/workers/999/undrain')).body.code, 'worker_not_found');
  assert.equal((await server.call('POST', '/workers/999/heartbeat', {})).body.code, 'worker_not_found');
  for (const bad of [{ leases: 1 }, { leases: [{ job_id: id }] }, { leases: [{ job_id: 'x', attempt: 1 }] }]) {
    assert.equal((await server.call('POST', path, bad)).status, 400, JSON.stringify(bad));
  }
});

test('done and fail: once; another outcome, attempt or worker is 409 lease_lost', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a' });
  const { worker: worker_id, id, attempt } = await claimOverHttp(server);
  for (const other of [
    { worker_id, attempt: attempt + 1 },
    { worker_id: '999', attempt },
  ]) {
    const { status, body } = await server.call('POST', `/jobs/${id}/done`, other);
    assert.deepEqual([status, body.code, body.job_id], [409, 'lease_lost', id]);
  }
  const done = await server.call('POST', `/jobs/${id}/done`, { worker_id, attempt });
  assert.deepEqual([done.status, done.body], [200, { job_id: id, attempt, result: 'ok' }]);
  assert.equal((await server.call('POST', `/jobs/${id}/done`, { worker_id, attempt })).status, 200);
  assert.equal((await server.call('POST', `/jobs/${id}/fail`, { worker_id, attempt })).status, 409);
  for (const bad of [{}, { worker_id }, { worker_id, attempt: 0 }, { worker_id, attempt, exit_code: 'x' }]) {
    assert.equal((await server.call('POST', `/jobs/${id}/done`, bad)).status, 400, JSON.stringify(bad));
  }
});

test('text that jobs printed is cleaned, not refused', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', [{ command: 'a', max_attempts: 1 }, { command: 'b' }]);
  const first = await claimOverHttp(server);
  const error = `{"worker_id":"${first.worker}","attempt":1,"exit_code":1,"error":"a\\u0000b\\ud800"}`;
  assert.equal((await server.call('POST', `/jobs/${first.id}/fail`, error)).status, 200);
  assert.equal((await server.call('GET', `/jobs/${first.id}`)).body.error, 'a\uFFFDb\uFFFD');
  const second = await claimOverHttp(server);
  const result = `{"worker_id":"${second.worker}","attempt":1,"result":{"k\\u0000":["\\udfff"]}}`;
  assert.equal((await server.call('POST', `/jobs/${second.id}/done`, result)).status, 200);
  assert.deepEqual((await server.call('GET', `/jobs/${second.id}`)).body.result, { 'k\uFFFD': ['\uFFFD'] });
});

test('settle: a malformed item is invalid, the others are served', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a' });
  const { worker, id, attempt } = await claimOverHttp(server);
  const items = [
    { job_id: '999', attempt: 1, outcome: { type: 'succeeded' } },
    { job_id: 'x', attempt: 1, outcome: { type: 'succeeded' } },
    { job_id: id, attempt, outcome: { type: 'exploded' } },
    null,
    { job_id: id, attempt, outcome: { type: 'succeeded', exit_code: 0, result: 'x'.repeat(1024 * 1024 + 1) } },
    { job_id: id, attempt, outcome: { type: 'succeeded', exit_code: 0 }, from_the_future: 1 },
  ];
  const { status, body } = await server.call('POST', `/workers/${worker}/settle`, { items });
  assert.equal(status, 200);
  assert.deepEqual(body.items, [
    { job_id: '999', attempt: 1, result: 'lease_lost' },
    { job_id: 'x', attempt: 1, result: 'invalid' },
    { job_id: id, attempt, result: 'invalid' },
    { job_id: null, attempt: null, result: 'invalid' },
    { job_id: id, attempt, result: 'invalid' },
    { job_id: id, attempt, result: 'ok' },
  ]);
  assert.equal((await server.call('GET', `/jobs/${id}`)).body.status, 'done');
  assert.equal((await server.call('POST', `/workers/${worker}/settle`, { itmes: [] })).status, 400);
});

test('output frames: there and back, and broken ones are refused', async () => {
  const frames = [
    { jobId: 2 ** 53 - 1, attempt: 7, offset: 2 ** 40, data: Uint8Array.from([1, 2]) },
    { jobId: 1, attempt: 1, offset: 0, data: new Uint8Array() },
  ];
  const bytes = encodeFrames(frames);
  assert.deepEqual(decodeFrames(bytes), frames);
  await using server = await openTestServer();
  for (const cut of [1, 23, 25, bytes.length - 1]) {
    const response = await fetch(`${server.url}/workers/1/output`, { method: 'POST', body: bytes.slice(0, cut) });
    assert.equal(response.status, 400, String(cut));
  }
  const strangers = await fetch(`${server.url}/workers/1/output`, {
    method: 'POST',
    body: bytes as Uint8Array<ArrayBuffer>,
  });
  const { items } = (await strangers.json()) as { items: { held: boolean }[] };
  assert.deepEqual(
    items.map((item) => item.held),
    [false, false],
  );
});

test('gone: the jobs of a worker whose process has ended go back at once, without those that finish without contact', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', [
    { command: 'stops', priority: 2 },
    { command: 'finishes', priority: 1, on_disconnect: 'finish' },
  ]);
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  const { body } = await server.call('POST', '/jobs/claim', { worker_id: worker.worker_id, limit: 2, claim_seq: 1 });
  const [stops, finishes] = body.items as { id: string }[];
  const gone = () => server.call('POST', `/workers/${worker.worker_id}/gone`, {});
  const reply = await gone();
  assert.deepEqual([reply.status, reply.body], [200, { gone: true }]);
  assert.equal((await gone()).status, 200, 'the answer may have been lost');
  const read = async (id = '') => (await server.call('GET', `/jobs/${id}`)).body;
  const [back, kept] = [await read(stops?.id), await read(finishes?.id)];
  assert.deepEqual([back.status, back.failures], ['pending', 1]);
  assert.deepEqual([kept.status, kept.failures], ['running', 0]);
  const late = await server.call('POST', '/jobs/claim', { worker_id: worker.worker_id });
  assert.equal(late.body.code, 'worker_not_found');
});

test('gone: a claim that still waits for the worker is given nothing', async () => {
  await using server = await openTestServer();
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  const { worker_id } = worker;
  const waiting = server.call('POST', '/jobs/claim', { worker_id, wait: '20s', claim_seq: 1 });
  await server.call('POST', `/workers/${worker_id}/gone`, {});
  const { body: job } = await server.call('POST', '/jobs', { command: 'true' });
  assert.equal((await waiting).body.code, 'worker_not_found');
  assert.equal((await server.call('GET', `/jobs/${job.id}`)).body.status, 'pending');
});

test('gone: is refused for a worker that is unknown, or attached to the store', async () => {
  await using server = await openTestServer();
  const unknown = await server.call('POST', '/workers/999/gone', {});
  assert.deepEqual([unknown.status, unknown.body.code], [404, 'worker_not_found']);
  const { id } = await server.scheduler.register(aWorker({ attachment: 'local' }), forever);
  const local = await server.call('POST', `/workers/${id}/gone`, {});
  assert.deepEqual([local.status, local.body.code], [400, 'bad_request']);
  const { body } = await server.call('GET', '/workers');
  assert.equal(body.items.find((each: { id: string }) => each.id === String(id)).state, 'online');
});
