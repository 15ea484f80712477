/** Messages to webhooks: what is sent, what is refused, what is tried again. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../src/core/outcome.ts';
import { isRefused, listOf } from '../../src/worker/webhook/private-address.ts';
import { webhookHandler } from '../../src/worker/webhook/webhook.ts';
import { openHookReceiver } from '../kit/hook-receiver.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

/** Runs the handler in a worker, one input after the other. */
async function outcomes(inputs: readonly unknown[], allowed: readonly string[] = ['127.0.0.0/8']): Promise<Outcome[]> {
  const source = new ScriptedSource();
  const hook = webhookHandler({ allowed: listOf(allowed), version: '1.2.3' });
  await using _ = new TestWorker(source, { handlers: { hook } });
  const found: Outcome[] = [];
  for (const input of inputs) {
    const [id] = source.submit({ handler: 'hook', input, timeoutMs: 5_000 }) as [number];
    found.push(await source.outcome(id));
  }
  return found;
}

const kind = (outcome: Outcome | undefined): string => {
  if (outcome?.type !== 'failed') return String(outcome?.type);
  return outcome.fatal ? 'fatal' : outcome.retryAfterMs === undefined ? 'failed' : `after ${outcome.retryAfterMs}`;
};

test('webhook: the body goes out as it was signed, and 2xx is a delivery', async () => {
  await using receiver = await openHookReceiver();
  const body = '{"event":"failed","text":"ä"}';
  const url = `${receiver.url}/hook?x=1`;
  const [signed, plain] = await outcomes([
    { url, body, delivery: '7.failed', timestamp: '1700000000', signature: 'sha256=abc' },
    { url, body, signature: null },
  ]);
  assert.deepEqual([kind(signed), kind(plain)], ['succeeded', 'succeeded']);
  const [first, second] = receiver.received;
  assert.deepEqual([first?.path, first?.body], ['/hook?x=1', body]);
  assert.equal(first?.headers['x-workron-signature'], 'sha256=abc');
  assert.equal(first?.headers['x-workron-delivery'], '7.failed');
  assert.equal(first?.headers['x-workron-timestamp'], '1700000000');
  assert.equal(first?.headers['content-type'], 'application/json');
  assert.equal(first?.headers['user-agent'], 'workron/1.2.3');
  assert.equal(second?.headers['x-workron-signature'], undefined);
});

test('webhook: private addresses are refused, by number and by name, and nothing is sent', async () => {
  await using receiver = await openHookReceiver();
  const message = (host: string) => ({ url: `http://${host}:${receiver.port}/`, body: '{}', signature: null });
  const refused = await outcomes(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1'].map(message), []);
  assert.deepEqual(refused.map(kind), ['fatal', 'fatal', 'fatal', 'fatal', 'fatal']);
  assert.match(JSON.stringify(refused[1]), /localhost is .*private address; set notify-allow-private/);
  assert.deepEqual(receiver.received, []);
  const [allowed] = await outcomes([message('localhost')], ['127.0.0.1']);
  assert.equal(kind(allowed), 'succeeded', 'of several addresses of a name, the one that is allowed is taken');
});

test('webhook: which addresses are private', () => {
  const none = listOf([]);
  const refused = ['10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1'];
  const refused6 = ['::', '::1', 'fd00::1', 'fe80::1', 'ff02::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00::'];
  for (const address of [...refused, ...refused6]) assert.equal(isRefused(address, none), true, address);
  for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1'])
    assert.equal(isRefused(address, none), false, address);
  assert.equal(isRefused('10.1.2.3', listOf(['10.0.0.0/8'])), false);
  assert.equal(isRefused('10.1.2.3', listOf(['10.0.0.0/16'])), true);
  assert.equal(isRefused('fd00::1', listOf(['all'])), false);
});

test('webhook: no redirect is followed; what will not get better is not tried again', async () => {
  await using receiver = await openHookReceiver();
  const statuses = [302, 307, 400, 404, 410, 500, 503, 429, 408];
  receiver.answers.push(...statuses.map((status) => ({ status, headers: { location: `${receiver.url}/elsewhere` } })));
  receiver.answers.push({ status: 429, headers: { 'retry-after': '7' } });
  const message = { url: `${receiver.url}/`, body: '{}', signature: null };
  const found = await outcomes(Array.from({ length: statuses.length + 1 }, () => message));
  assert.deepEqual(found.map(kind), [
    'fatal',
    'fatal',
    'fatal',
    'fatal',
    'fatal',
    'failed',
    'failed',
    'failed',
    'failed',
    'after 7000',
  ]);
  assert.equal(receiver.received.length, statuses.length + 1);
  assert.ok(receiver.received.every(({ path }) => path === '/'));
});

test('webhook: nobody there is a failure to be tried again, nonsense is not', async () => {
  const port = await (async () => {
    await using receiver = await openHookReceiver();
    return receiver.port;
  })();
  const [gone, ...nonsense] = await outcomes([
    { url: `http://127.0.0.1:${port}/`, body: '{}', signature: null },
    null,
    {},
    'x',
    { url: 'file:///etc/passwd', body: '{}' },
    { url: 'http://', body: '' },
    { url: 'https://a' },
  ]);
  assert.equal(kind(gone), 'failed');
  assert.deepEqual(new Set(nonsense.map(kind)), new Set(['fatal']));
});
