import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { NEVER } from '../../src/core/never.ts';
import { Batcher } from '../../src/ops/batcher.ts';

/** A batcher whose calls are answered by hand, and the calls that it has made. */
function batcherByHand() {
  const calls: { items: string[]; answer: () => void }[] = [];
  const batcher = new Batcher<string, string>({
    maxBatch: 10,
    maxWaiting: 10,
    send: (items) =>
      new Promise((resolve) => {
        calls.push({ items, answer: () => resolve(items.map((item) => `${item}!`)) });
      }),
  });
  const called = async (count: number) => {
    while (calls.length < count) await new Promise(setImmediate);
    return calls[count - 1] as (typeof calls)[number];
  };
  return { batcher, called };
}

test('batcher: an item whose call is aborted while it waits is not sent, and the others are', async () => {
  const { batcher, called } = batcherByHand();
  const hangUp = new AbortController();
  const first = batcher.add('first', NEVER);
  const { answer } = await called(1);
  const aborted = batcher.add('aborted', hangUp.signal);
  const second = batcher.add('second', NEVER);
  hangUp.abort(new Error('hung up'));
  await assert.rejects(aborted, /hung up/);
  answer();
  assert.equal(await first, 'first!');
  const next = await called(2);
  assert.deepEqual(next.items, ['second']);
  next.answer();
  assert.equal(await second, 'second!');
});

test('batcher: aborting an item that was sent has no effect', async () => {
  const { batcher, called } = batcherByHand();
  const hangUp = new AbortController();
  const sent = batcher.add('sent', hangUp.signal);
  const { answer } = await called(1);
  hangUp.abort();
  answer();
  assert.equal(await sent, 'sent!');
});

test('batcher: an item leaves no listener behind, and one that is never aborted needs none', async () => {
  const { batcher, called } = batcherByHand();
  const { signal } = new AbortController();
  const items = [batcher.add('a', signal), batcher.add('b', NEVER)];
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  assert.equal(getEventListeners(NEVER, 'abort').length, 0);
  (await called(1)).answer();
  assert.deepEqual(await Promise.all(items), ['a!', 'b!']);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
