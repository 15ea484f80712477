import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { openTestServer } from '../kit/http.ts';

/** Resolves when the scheduler's call `name` has begun, and with how its signal ended. */
function watch(name: 'wait' | 'claim') {
  const begun = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const wrap = (scheduler: Scheduler): Scheduler => ({
    ...scheduler,
    [name]: (...args: unknown[]) => {
      const signal = args.at(-1) as AbortSignal;
      signal.addEventListener('abort', () => aborted.resolve());
      begun.resolve();
      return (scheduler[name] as (...all: unknown[]) => unknown)(...args);
    },
  });
  return { begun: begun.promise, aborted: aborted.promise, wrap };
}

test('a caller that hangs up while it waits ends the wait', async () => {
  const { begun, aborted, wrap } = watch('wait');
  await using server = await openTestServer({ wrap });
  const { body: job } = await server.call('POST', '/jobs', { command: 'a', delay: '1h' });
  const caller = new AbortController();
  const waiting = fetch(`${server.url}/jobs/${job.id}/wait?timeout=10m`, { signal: caller.signal });
  await begun;
  caller.abort();
  await assert.rejects(waiting);
  await aborted;
});

test('a worker that hangs up while it claims is handed nothing', async () => {
  const { begun, aborted, wrap } = watch('claim');
  await using server = await openTestServer({ wrap });
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  const caller = new AbortController();
  const body = JSON.stringify({ worker_id: worker.worker_id, wait: '1m' });
  const claiming = fetch(`${server.url}/jobs/claim`, {
    method: 'POST',
    body,
    signal: caller.signal,
    headers: { 'content-type': 'application/json' },
  });
  await begun;
  caller.abort();
  await assert.rejects(claiming);
  await aborted;
  await server.call('POST', '/jobs', { command: 'a' });
  assert.equal((await server.call('GET', '/jobs')).body.items[0].status, 'pending');
});

test('what was claimed for a caller that is gone goes back at once', async () => {
  const claimed = Promise.withResolvers<void>();
  const returned = Promise.withResolvers<void>();
  const caller = new AbortController();
  const wrap = (scheduler: Scheduler): Scheduler => ({
    ...scheduler,
    async claim(request, signal) {
      const jobs = await scheduler.claim(request, signal);
      claimed.resolve();
      caller.abort();
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      return jobs;
    },
    async settle(settlements, signal) {
      const results = await scheduler.settle(settlements, signal);
      returned.resolve();
      return results;
    },
  });
  await using server = await openTestServer({ wrap });
  await server.call('POST', '/jobs', { command: 'a' });
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  const body = JSON.stringify({ worker_id: worker.worker_id });
  await assert.rejects(
    fetch(`${server.url}/jobs/claim`, {
      method: 'POST',
      body,
      signal: caller.signal,
      headers: { 'content-type': 'application/json' },
    }),
  );
  await claimed.promise;
  await returned.promise;
  const [job] = (await server.call('GET', '/jobs')).body.items;
  assert.deepEqual([job.status, job.failures], ['pending', 0]);
});

test('closing ends long polls at once, with a 503 that says when to come back', async () => {
  const { begun, wrap } = watch('wait');
  await using server = await openTestServer({ wrap });
  const { body: job } = await server.call('POST', '/jobs', { command: 'a', delay: '1h' });
  const waiting = server.call('GET', `/jobs/${job.id}/wait?timeout=10m`);
  await begun;
  await server.close();
  const { status, body, headers } = await waiting;
  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'shutting_down', '1']);
});

test('a submit in flight is finished when the server closes', async () => {
  const closing = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const wrap = (scheduler: Scheduler): Scheduler => ({
    ...scheduler,
    as: (caller) => ({
      ...scheduler.as(caller),
      async submit(submissions, options, signal) {
        begun.resolve();
        await closing.promise;
        return await scheduler.as(caller).submit(submissions, options, signal);
      },
    }),
  });
  await using server = await openTestServer({ wrap });
  const submitting = server.call('POST', '/jobs', { command: 'a' });
  await begun.promise;
  const closed = server.close();
  closing.resolve();
  assert.equal((await submitting).status, 201);
  await closed;
});

test('polls beyond the limit are refused and may be retried later', async () => {
  const { begun, wrap } = watch('wait');
  await using server = await openTestServer({ wrap, maxPolls: 1 });
  const { body: job } = await server.call('POST', '/jobs', { command: 'a', delay: '1h' });
  const first = server.call('GET', `/jobs/${job.id}/wait?timeout=10m`);
  await begun;
  const second = await server.call('GET', `/jobs/${job.id}/wait`);
  assert.deepEqual([second.status, second.body.code], [503, 'overloaded']);
  await server.call('POST', `/jobs/${job.id}/cancel`);
  assert.equal((await first).body.status, 'cancelled');
});

test('a bug behind a route is a 500 without details; the log has them', async () => {
  const errors: unknown[] = [];
  const log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields: object) => void errors.push(fields),
    child: () => log,
  };
  const wrap = (scheduler: Scheduler): Scheduler => ({
    ...scheduler,
    queues: () => Promise.reject(new Error('secret detail')),
  });
  await using server = await openTestServer({ wrap, log });
  const { status, body } = await server.call('GET', '/queues');
  assert.deepEqual([status, body.code], [500, 'internal']);
  assert.ok(!JSON.stringify(body).includes('secret detail'));
  assert.deepEqual([errors.length, (errors[0] as { request_id: string }).request_id], [1, body.request_id]);
});
