/** Who acts through the library: on jobs, and in the audit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWorkronError, job, open } from '../../src/index.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';

const never = AbortSignal.timeout(600_000);
const isBadRequest = (error: unknown) => isWorkronError(error, 'bad_request');

test('actor: is on submitted jobs, of the object or of the call', async () => {
  const store = openMemory({ clock: systemClock });
  await using workron = await open(store, { actor: 'shop', log: 'silent' });
  const mail = job('mail', { run: () => undefined });
  const one = await workron.submit(mail, undefined, { delay: '1h' });
  const two = await workron.submit(mail, undefined, { delay: '1h', actor: 'ada@example.org' });
  const three = await workron.submitCommand('true', { delay: '1h' });
  const names = await Promise.all([one, two, three].map(async ({ id }) => (await workron.job(id)).submittedBy));
  assert.deepEqual(names, ['shop', 'ada@example.org', 'shop']);
  await assert.rejects(workron.submit(mail, undefined, { actor: 'a\nb' }), isBadRequest);
  assert.deepEqual(await store.audit({}, { before: null, limit: 10 }, never), [], 'submissions are not in the audit');
});

test('actor: its changes are in the audit with their results', async () => {
  const store = openMemory({ clock: systemClock });
  await using workron = await open(store, { actor: 'shop', log: 'silent' });
  const { id } = await workron.submitCommand('true', { delay: '1h' });
  await workron.cancel(id);
  await workron.retry(id);
  await assert.rejects(workron.retry(id));
  const nightly = await workron.schedule('nightly', { every: '1h', command: 'true' });
  await nightly.pause();
  const entries = await store.audit({}, { before: null, limit: 10 }, never);
  assert.deepEqual(
    entries.map(({ actor, address, action, subject, result }) => [actor, address, action, subject, result]).reverse(),
    [
      ['shop', 'library', 'job.cancel', `job/${id}`, 'ok'],
      ['shop', 'library', 'job.retry', `job/${id}`, 'ok'],
      ['shop', 'library', 'job.retry', `job/${id}`, 'illegal_transition'],
      ['shop', 'library', 'schedule.put', 'schedule/nightly', 'ok'],
      ['shop', 'library', 'schedule.pause', 'schedule/nightly', 'ok'],
    ],
  );
});

test('actor: without one, nothing is added; a bad one and one over HTTP are refused', async () => {
  const store = openMemory({ clock: systemClock });
  await using workron = await open(store, { log: 'silent' });
  const { id } = await workron.submitCommand('true', { delay: '1h' });
  await workron.cancel(id);
  assert.equal((await workron.job(id)).submittedBy, null);
  assert.deepEqual(await store.audit({}, { before: null, limit: 10 }, never), []);
  await assert.rejects(open('memory:', { actor: '' }), isBadRequest);
  await assert.rejects(open('memory:', { actor: 'a\u202eb' }), isBadRequest);
  await assert.rejects(open('http://127.0.0.1:1', { actor: 'ada' }), isBadRequest);
  await using remote = await open('http://127.0.0.1:1', { log: 'silent' });
  await assert.rejects(remote.submitCommand('true', { actor: 'ada' }), isBadRequest);
});
