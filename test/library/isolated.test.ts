/** Jobs in threads of their own. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { job, open } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import { deaf, inThread, listens } from './isolated-jobs.ts';

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
  await assert.rejects((await workron.submit(hidden)).result(), /exports no job hidden/);
});
