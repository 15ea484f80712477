import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { isWorkronError } from '../../src/core/error.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import { silentLog } from '../../src/ops/log.ts';
import { httpSource } from '../../src/worker/http-source.ts';
import { openTestServer } from '../kit/http.ts';
import { exerciseSource } from '../worker/source/exercise-source.ts';

const PROFILE = { name: 'w', slots: 1, queues: null, commands: true, handlers: [], tags: [], resources: {} };
const OFFER = { queues: null, commands: true, handlers: [], tags: [], free: {} };

function sourceOf(urls: string[], token: string | null = null) {
  return httpSource({ urls, token, log: silentLog, version: '0' });
}

exerciseSource('over HTTP', async () => {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await openTestServer({ token: 'secret' }));
  const source = stack.use(sourceOf([server.url], 'secret'));
  return { source, scheduler: server.scheduler, [Symbol.asyncDispose]: () => stack.disposeAsync() };
});

test('a scheduler that cannot be reached: the next is tried, and remembered', async () => {
  await using server = await openTestServer();
  await using source = sourceOf(['http://127.0.0.1:1', server.url]);
  const { workerId } = await source.register(PROFILE, signal);
  assert.ok(await source.heartbeat({ workerId, leases: [], seenClaim: 0 }, signal));
});

test('a scheduler that shuts down: the next takes over', async () => {
  await using first = await openTestServer();
  await using second = await openTestServer();
  await using source = sourceOf([first.url, second.url]);
  await source.register(PROFILE, signal);
  await first.close();
  await source.register(PROFILE, signal);
  assert.equal((await second.scheduler.workers(signal)).length, 1);
});

test('no scheduler at all: unreachable, and worth another try', async () => {
  await using source = sourceOf(['http://127.0.0.1:1']);
  await assert.rejects(
    source.register(PROFILE, signal),
    (error) => isWorkronError(error, 'unreachable') && error.retryable,
  );
});

test('a wrong token is not worth another try', async () => {
  await using server = await openTestServer({ token: 'secret' });
  await using source = sourceOf([server.url], 'wrong');
  await assert.rejects(
    source.register(PROFILE, signal),
    (error) => isWorkronError(error, 'unauthorized') && !error.retryable,
  );
});

test('a connection that is closed while idle is replaced without an error', async () => {
  await using server = await openTestServer();
  const open = new Set<Socket>();
  const relay = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
    open.add(client).add(upstream);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  await using source = sourceOf([`http://127.0.0.1:${(relay.address() as AddressInfo).port}`]);
  const { workerId } = await source.register(PROFILE, signal);
  for (const socket of open) socket.destroy();
  assert.ok(await source.heartbeat({ workerId, leases: [], seenClaim: 0 }, signal));
  relay.close();
  for (const socket of open) socket.destroy();
});

test('a scheduler that says nothing is given up by the deadline, not waited for', async (t) => {
  const silent = createServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  await using source = sourceOf([`http://127.0.0.1:${(silent.address() as AddressInfo).port}`]);
  await assert.rejects(source.claim({ workerId: 1, limit: 1, offer: OFFER, claimSeq: 1, waitMs: 0 }, signal), (error) =>
    isWorkronError(error, 'unreachable'),
  );
});

test('onNudge: is called for a cancel before the next heartbeat is due', async () => {
  await using server = await openTestServer();
  await using source = sourceOf([server.url]);
  const { workerId } = await source.register(PROFILE, signal);
  await server.call('POST', '/jobs', { command: 'true' });
  const [job] = await source.claim({ workerId, limit: 1, offer: OFFER, claimSeq: 1, waitMs: 0 }, signal);
  const nudged = Promise.withResolvers<void>();
  const stop = source.onNudge(workerId, nudged.resolve);
  // The stream opens in its own time: a cancel before that would only be told by the heartbeat.
  const cancelling = setInterval(() => void server.scheduler.drainWorker(workerId, signal), 100);
  await server.call('POST', `/jobs/${job?.id}/cancel`);
  await nudged.promise;
  clearInterval(cancelling);
  stop();
});
