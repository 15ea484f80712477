/** Jobs in threads of their own. */

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { job, type Middleware, open } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import { child, completes, deaf, inThread, listens, odd, parent, refused, throwsBare } from './isolated-jobs.ts';

const around = new AsyncLocalStorage<string>();

test('isolate: a job in a thread has its input, log, progress and checkpoints, and fails as others do', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [inThread] });
  const handle = await workron.submit(inThread, { n: '7' });
  assert.deepEqual(await handle.result(), { n: 7, before: 1, isThread: true });
  assert.deepEqual((await handle.job()).progress, { fraction: 0.5, text: 'half' });
});

test('isolate: one that blocks its loop is really ended by its timeout, and stops nobody', async () => {
  await using workron = await open('memory:', { log: 'silent', lease: 3_000, heartbeat: 200 });
  const quick = job('quick', { run: () => 'done' });
  await workron.start({ jobs: [deaf, quick], concurrency: 1 });
  const handle = await workron.submit(deaf, undefined, { timeout: 400, killGrace: 100, maxAttempts: 1 });
  const after = await workron.submit(quick);
  assert.equal((await handle.ended()).reason, 'timeout');
  assert.equal(await after.result(), 'done', 'its slot is free again');
});

test('isolate: a result that JSON cannot hold is fatal, and the errors of an AggregateError are kept', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [odd] });
  for (const how of ['bigint', 'function'] as const) {
    const ended = await (await workron.submit(odd, how)).ended();
    assert.deepEqual([ended.status, ended.reason, ended.attempts], ['failed', 'fatal', 1], how);
    assert.match(ended.error ?? '', /the result is not JSON: /);
  }
  const { thrown } = await (await workron.submit(odd, 'errors', { maxAttempts: 1 })).ended();
  assert.deepEqual(thrown?.errors, [{ name: 'TypeError', message: 'no answer', code: null }]);
});

test('isolate: a cancel reaches the thread', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [listens] });
  const handle = await workron.submit(listens);
  await eventually(async () => (await handle.job()).status === 'running');
  await handle.cancel();
  assert.equal((await handle.ended()).status, 'cancelled');
});

test('isolate: a job that its module does not export cannot be', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  const hidden = job('hidden', { isolate: import.meta.resolve('./isolated-jobs.ts'), run: () => 1 });
  await workron.start({ jobs: [hidden] });
  await assert.rejects(
    (await workron.submit(hidden)).result(),
    /isolate: .*isolated-jobs\.ts does not export the job hidden/,
  );
});

test('isolate: a job in a thread submits children, and finds those of its first attempt', async () => {
  const seen: string[] = [];
  const middleware = [
    {
      submit(call, next) {
        seen.push(`${call.job} by ${around.getStore()}`);
        return next();
      },
      run: ({ job: name }, next) => around.run(name, next),
    } satisfies Middleware,
  ];
  await using workron = await open('memory:', { log: 'silent', middleware });
  await workron.start({ jobs: [parent, child] });
  const handle = await workron.submit(parent);
  const { before, ids, ...rest } = await handle.result();
  assert.deepEqual(ids, before);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(rest, { deduplicated: true, result: 2, priority: 5 });
  assert.deepEqual(seen.slice(1), Array(6).fill('child by parent'), 'middleware is around their submissions too');
  const second = await workron.job(ids[1] as string);
  assert.deepEqual(second.dependsOn, [{ job: ids[0], if: 'ended' }]);
});

test('isolate: errors of refused calls reach the thread unchanged', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [refused] });
  const told = (await (await workron.submit(refused)).result()) as Record<string, unknown>[];
  assert.deepEqual([told[0]?.['name'], told[0]?.['code']], ['WorkronError', 'bad_request']);
  assert.match(String(told[0]?.['message']), /the input of child: \/n/);
  assert.deepEqual([told[1]?.['name'], told[1]?.['code']], ['WorkronError', 'bad_request']);
  assert.equal(told[2]?.['name'], 'TimeoutError');
  assert.equal(told[3]?.['status'], 'cancelled');
  assert.equal(told[4]?.['name'], 'JobFailed');
});

test('isolate: a transaction cannot leave the thread, and trying again would not help', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [completes] });
  const ended = await (await workron.submit(completes)).ended();
  assert.deepEqual([ended.reason, ended.attempts], ['fatal', 1]);
  assert.match(
    ended.error ?? '',
    /complete: not supported in an isolated job, as its transaction cannot leave the thread; drop isolate/,
  );
});

test('isolate: a value that is no error fails the job like any other', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.start({ jobs: [throwsBare] });
  const ended = await (await workron.submit(throwsBare)).ended();
  assert.deepEqual([ended.status, ended.reason], ['failed', 'exit']);
  assert.match(ended.error ?? '', /null prototype/);
});

test('isolate: a module that opens a Workron when it is loaded fails its job once, and starts no further thread', async () => {
  const app = spawn(process.execPath, [fileURLToPath(import.meta.resolve('./isolated-app.ts'))], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 20_000,
    killSignal: 'SIGKILL',
  });
  const ended = JSON.parse(await text(app.stdout)) as Record<string, unknown>;
  assert.deepEqual([ended['status'], ended['reason'], ended['attempts']], ['failed', 'fatal', 1]);
  assert.match(String(ended['error']), /open: refused in the thread of the isolated job report.*in another module/);
});
