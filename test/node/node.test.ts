/** The composition root: what a node takes over, and in which order it shuts down. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER } from '../../src/core/never.ts';
import { NODE_DEFAULTS, openNode } from '../../src/node/node.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { eventually } from '../kit/eventually.ts';

/** A store that notes what ends. */
function notingStore(): { store: Store; ended: string[] } {
  const ended: string[] = [];
  const inner = openMemory({ clock: systemClock });
  const store: Store = {
    ...inner,
    async leaveInstance(id, signal) {
      await inner.leaveInstance(id, signal);
      ended.push('loops');
    },
    async [Symbol.asyncDispose]() {
      await inner[Symbol.asyncDispose]();
      ended.push('store');
    },
  };
  return { store, ended };
}

const NO_PROXY = { trustProxy: [], userHeader: null, roleMap: [] };
const listening = { host: '127.0.0.1', port: 0, token: null, allowedHosts: [], certificate: null, ...NO_PROXY };

test('node: shuts down in order: API, loops, last calls, store', async () => {
  const { store, ended } = notingStore();
  const node = await openNode({ store, settings: NODE_DEFAULTS, log: silentLog });
  await node.listen(listening);
  assert.match(node.url ?? '', /^http:\/\/127\.0\.0\.1:\d+$/);
  void node.runRoles(['api', 'scheduler']);
  await eventually(async () => (await store.instances(NEVER)).length > 0);
  const { url } = node;
  await node.close(async () => {
    ended.push('last calls');
    await assert.rejects(fetch(`${url}/health`), 'the API still answers');
    await node.scheduler.jobs({}, { before: null, limit: 1 }, NEVER);
  });
  assert.deepEqual(ended, ['loops', 'last calls', 'store']);
});

test('node: the store is closed even if an earlier step of the shutdown fails', async () => {
  const { store, ended } = notingStore();
  const node = await openNode({ store, settings: NODE_DEFAULTS, log: silentLog });
  await assert.rejects(
    node.close(() => Promise.reject(new Error('broken'))),
    /^Error: broken$/,
  );
  assert.equal(ended.at(-1), 'store');
});

test('node: a node that cannot be opened closes its store', async () => {
  const { store, ended } = notingStore();
  const broken: Store = { ...store, workers: () => Promise.reject(new Error('broken')) };
  await assert.rejects(openNode({ store: broken, settings: NODE_DEFAULTS, log: silentLog }), /^Error: broken$/);
  assert.deepEqual(ended, ['store']);
});
