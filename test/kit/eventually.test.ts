import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from './eventually.ts';

test('eventually: returns what the probe found', async () => {
  let calls = 0;
  assert.equal(await eventually(() => (calls += 1) > 2 && calls, { everyMs: 1 }), 3);
});

test('eventually: gives up, and says what it saw', async () => {
  const giveUp = eventually((saw) => saw({ status: 'running' }).status === 'done', { withinMs: 20, everyMs: 1 });
  await assert.rejects(
    giveUp,
    /not true within 20 ms: .*\nthe last call returned false\nit saw \{ status: 'running' \}/,
  );
});

test('eventually: gives up on a probe that never returns', async () => {
  const giveUp = eventually(() => new Promise<true>(() => undefined), { withinMs: 20 });
  await assert.rejects(giveUp, /not true within 20 ms: .*\nthe first call has not returned/);
});

test('eventually: an error of the probe is thrown at once, unless it is to be retried', async () => {
  const fails = () => Promise.reject(new Error('no such thing'));
  await assert.rejects(eventually(fails), /^Error: no such thing$/);
  await assert.rejects(
    eventually(fails, { withinMs: 20, retryErrors: true }),
    /the last call threw Error: no such thing/,
  );
});
