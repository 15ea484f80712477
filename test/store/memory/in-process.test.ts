/** What the memory store promises beside the contract: it is SQLite in this process, without threads. */

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { aJob } from '../../../contract/kit/builders.ts';
import { VirtualClock } from '../../../contract/kit/clock.ts';
import { submitChain } from '../../../contract/kit/graph.ts';
import { cancel, forever, register, submit } from '../../../contract/kit/steps.ts';
import { openMemory } from '../../../src/store/memory/open.ts';
import { tourStore } from '../../kit/store-tour.ts';

test('memory: calls are answered in order, in the turn of the event loop in which they were made', async () => {
  await using store = openMemory({ clock: new VirtualClock() });
  let turns = 0;
  const turn = setImmediate(() => (turns += 1));
  const order: number[] = [];
  const inserted = [1, 2, 3].map((priority) =>
    store.insert([aJob({ priority })], {}, forever).then(() => order.push(priority)),
  );
  const listed = await store.list({}, { before: null, limit: 10 }, forever);
  assert.deepEqual(
    listed.map(({ priority }) => priority),
    [3, 2, 1],
  );
  await Promise.all(inserted);
  assert.deepEqual([order, turns], [[1, 2, 3], 0]);
  clearImmediate(turn);
});

/** SQLite's threads rely on the same of the engine: a call that waits for more than statements would hold up the others. */
test('memory: no call of any kind waits for a turn of the event loop', async () => {
  const clock = new VirtualClock();
  await using store = openMemory({ clock });
  const waited = new Set<string>();
  let calls = 0;
  const watched = new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        calls += 1;
        const turn = setImmediate(() => waited.add(String(name)));
        const answer = method.apply(target, args) as unknown;
        return answer instanceof Promise ? answer.finally(() => clearImmediate(turn)) : (clearImmediate(turn), answer);
      };
    },
  });
  await tourStore(
    watched,
    async (ms) => clock.advance(ms),
    () => undefined,
  );
  assert.ok(calls > 126, `${calls} calls`);
  // A workflow is taken apart piece by piece before the call, so that other work of the process goes on.
  assert.deepEqual([...waited], ['insertWorkflow']);
});

test('memory: observers are called in the context of the call, also of one that waits for another', async () => {
  await using store = openMemory({ clock: new VirtualClock() });
  const caller = new AsyncLocalStorage<string>();
  const heard: unknown[] = [];
  store.observe(({ ended }) => heard.push([caller.getStore(), ended]));
  const chains = [await submitChain(store, 2), await submitChain(store, 2)];
  const ids = chains.map((chain) => chain.map(({ id }) => id)) as [number, number][];
  await Promise.all(ids.map(([first], index) => caller.run(`caller ${index}`, () => cancel(store, first))));
  assert.deepEqual(
    heard,
    ids.map(([, second], index) => [`caller ${index}`, [second]]),
  );
});

test('memory: what a caller does with its arguments after the call changes nothing', async () => {
  await using store = openMemory({ clock: new VirtualClock() });
  const jobs = await submit(store, [aJob(), aJob()]);
  const ids = jobs.map(({ id }) => id);
  const read = store.read(ids, forever);
  ids.splice(0);
  assert.equal((await read).length, 2);
});

test('memory: a call that fails leaves nothing behind, and the next one is answered', async () => {
  await using store = openMemory({ clock: new VirtualClock() });
  const { id } = await register(store);
  const dependsOn = [{ jobId: 999, condition: 'success' as const }];
  const failed = store.insert([aJob(), aJob({ dependsOn })], {}, forever);
  const counted = store.count({}, 10, forever);
  await assert.rejects(failed, { code: 'dependency_unknown' });
  assert.equal(await counted, 0);
  assert.equal((await store.worker(id, forever))?.id, id);
});

test('memory: a closed store answers the calls before, and refuses others', async () => {
  const store = openMemory({ clock: new VirtualClock() });
  const inserted = store.insert([aJob()], {}, forever);
  await store[Symbol.asyncDispose]();
  assert.equal((await inserted).items.length, 1);
  await assert.rejects(store.now(forever), { code: 'store_unavailable' });
  await store[Symbol.asyncDispose]();
});
