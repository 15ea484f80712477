/** Test messages to targets of notifications. */

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { notifyFrom } from '../../src/api/notify.ts';
import { job, open } from '../../src/index.ts';
import { openHookReceiver, signedText } from '../kit/hook-receiver.ts';
import { openTestServer } from '../kit/http.ts';

const ADMIN = 'an-admin-token-of-32-characters!';

/** A server with two targets of its own and a worker that may reach this machine, and what the targets receive. */
async function setUp(allowed: readonly string[] = ['127.0.0.1']) {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await openHookReceiver());
  const list = notifyFrom([
    { on: ['failed'], webhook: `${receiver.url}/secret-one` },
    { on: ['recovered', 'done'], webhook: `${receiver.url}/secret-two` },
  ]);
  const notify = { list, secret: 'hush', publicUrl: null };
  const server = stack.use(await openTestServer({ notify, token: ADMIN }));
  const worker = stack.use(await open(server.url, { log: 'silent', token: ADMIN, notifyAllowPrivate: allowed }));
  await worker.start({ jobs: [job('noop', { run: () => null })] });
  const callAs = (token: string) => (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { authorization: `Bearer ${token}` });
  const call = callAs(ADMIN);
  const ended = async ({ job_id }: { job_id: string }) => (await call('GET', `/jobs/${job_id}/wait?timeout=10s`)).body;
  const tokenOf = async (name: string, role: string) =>
    (await call('POST', '/tokens', { name, role })).body.token as string;
  const moved = stack.move();
  return { receiver, call, callAs, ended, tokenOf, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

test('notify test: a target gets one message that says that it is a test, signed; the audit has it', async () => {
  await using scene = await setUp();
  const { receiver, call, ended } = scene;
  const notify = [{ on: ['failed'], webhook: `${receiver.url}/hook` }];
  const { status, body } = await call('POST', '/notify/test', { notify });
  assert.equal(status, 202, JSON.stringify(body));
  assert.deepEqual(
    body.items.map(({ type }: { type: string }) => type),
    ['webhook'],
  );
  const delivered = await ended(body.items[0]);
  assert.deepEqual([delivered.status, delivered.queue, delivered.max_attempts], ['done', 'workron.notify', 1]);
  const [{ path, headers, body: sent }] = receiver.received as [(typeof receiver.received)[0]];
  const message = JSON.parse(sent) as { test: boolean; event: string; text: string };
  assert.deepEqual([path, message.test, message.event], ['/hook', true, 'failed']);
  assert.match(message.text, /^Test message/);
  const signature = createHmac('sha256', 'hush')
    .update(signedText({ headers, body: sent }))
    .digest('hex');
  assert.equal(headers['x-workron-signature'], `sha256=${signature}`);
  const audit = await call('GET', '/audit?limit=1');
  assert.deepEqual([audit.body.items[0].action, audit.body.items[0].result], ['notify.test', 'ok']);
});

test("notify: the installation's targets are listed by service and events, without their addresses", async () => {
  const list = notifyFrom([
    { on: ['failed', 'recovered'], webhook: 'https://hooks.slack.com/services/secret' },
    { on: ['failed'], webhook: 'https://events.pagerduty.com/v2/enqueue?routing_key=secret' },
    { on: ['done'], webhook: 'https://slack.example.com/secret' },
    { on: ['late'], command: 'echo secret' },
  ]);
  await using server = await openTestServer({ notify: { list, secret: null, publicUrl: null } });
  const { status, body } = await server.call('GET', '/notify');
  assert.equal(status, 200);
  assert.deepEqual(body.items, [
    { place: 1, service: 'slack', on: ['failed', 'recovered'] },
    { place: 2, service: 'pagerduty', on: ['failed'] },
    { place: 3, service: 'webhook', on: ['done'] },
    { place: 4, service: 'command', on: ['late'] },
  ]);
});

test("notify test: the installation's targets by place or all, without their addresses", async () => {
  await using scene = await setUp();
  const { receiver, call, ended } = scene;
  const second = await call('POST', '/notify/test', { installation: 2 });
  const [delivered] = await Promise.all(second.body.items.map(ended));
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/secret-two'],
  );
  assert.doesNotMatch(JSON.stringify([second.body, delivered]), /secret-two/);
  const all = await call('POST', '/notify/test', { installation: 'all' });
  await Promise.all(all.body.items.map(ended));
  assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/secret-one', '/secret-two', '/secret-two']);
  const missing = await call('POST', '/notify/test', { installation: 3 });
  assert.deepEqual([missing.status, missing.body.code], [404, 'not_found']);
  await using plain = await openTestServer();
  const none = await plain.call('POST', '/notify/test', { installation: 'all' });
  assert.match(none.body.detail, /has no targets/);
});

test('notify test: a private address is refused as for every message', async () => {
  await using scene = await setUp([]);
  const { receiver, call, ended } = scene;
  const notify = [{ on: ['failed'], webhook: `${receiver.url}/hook` }];
  const { body } = await call('POST', '/notify/test', { notify });
  const delivered = await ended(body.items[0]);
  assert.equal(delivered.status, 'failed');
  assert.match(delivered.error, /private address/);
  assert.deepEqual(receiver.received, []);
});

test('notify test: bad input, callers who may not, and too many at once', async () => {
  await using scene = await setUp();
  const { receiver, call, callAs, tokenOf } = scene;
  const webhook = { on: ['failed'], webhook: `${receiver.url}/hook` };
  const bad = [
    {},
    { notify: [] },
    { notify: [webhook], installation: 1 },
    { notify: [{ on: ['exploded'], webhook: 'https://example.com' }] },
    { notify: [{ on: ['failed'], webhook: 'file:///etc/passwd' }] },
    { notify: Array.from({ length: 17 }, () => webhook) },
    ...[0, 17, 1.5, 'none', null].map((installation) => ({ installation })),
  ];
  for (const body of bad) assert.equal((await call('POST', '/notify/test', body)).status, 400, JSON.stringify(body));

  const viewer = callAs(await tokenOf('viewer', 'viewer'));
  assert.equal((await viewer('POST', '/notify/test', { notify: [webhook] })).status, 403);
  const submitter = callAs(await tokenOf('mail', 'submitter'));
  assert.equal((await submitter('POST', '/notify/test', { installation: 'all' })).status, 403);
  const operator = callAs(await tokenOf('ada', 'operator'));
  assert.equal((await operator('POST', '/notify/test', { notify: [webhook] })).status, 202);

  const many = Array.from({ length: 16 }, () => webhook);
  assert.equal((await call('POST', '/notify/test', { notify: many })).status, 202);
  const refused = await call('POST', '/notify/test', { notify: many });
  assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_requests']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});
