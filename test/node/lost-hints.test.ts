/** Hints only save time: if every one of them is lost, duties and waiting claims look again by themselves. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, aStep, aWorkflow } from '../../contract/kit/builders.ts';
import { forever, submit } from '../../contract/kit/steps.ts';
import { isTerminal } from '../../src/core/job.ts';
import { NODE_DEFAULTS, openNode } from '../../src/node/node.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { Store } from '../../src/store/store.ts';
import type { Transactional } from '../../src/store/transactional.ts';
import { Worker } from '../../src/worker/worker.ts';
import { eventually } from '../kit/eventually.ts';
import { leftBehind, stranded, type Tables } from '../kit/stranded.ts';
import { STORES_WITH_TABLES } from '../kit/with-tables.ts';

function withoutHints(store: Store): Store {
  return { ...store, subscribe: () => () => undefined, fenced: (fence) => withoutHints(store.fenced(fence)) };
}

const handlers = {
  fine: () => Promise.resolve('fine'),
  fails: () => Promise.reject(new Error('no')),
};

const h = (handler: keyof typeof handlers) => ({ command: null, handler, maxAttempts: 1 });

/** Of everything that waits for something else. */
async function submitAll(store: Store, run: Parameters<Transactional['enlist']>[0]): Promise<void> {
  const fine = (wanted = {}) => aJob({ ...h('fine'), ...wanted });
  const [parent] = await submit(store, [fine({ delayMs: 1_500 })]);
  const jobId = parent?.id ?? 0;
  const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'restart', timeoutMs: 5_000 } as const;
  const rates = [{ key: 'r', limit: 1, perMs: 700, burst: 0 }];
  await submit(store, [
    ...Array.from({ length: 4 }, () => fine({ limits: [{ key: 'k', max: 1 }] })),
    ...Array.from({ length: 3 }, () => fine({ rates })),
    ...[0, 1].map((rank) => fine({ gang: { ...gang, rank } })),
    fine({ dependsOn: [{ jobId, condition: 'success' }] }),
    fine({ fairKey: 'a', queue: 'fair' }),
    fine({ resources: { gpu: 2 } }),
    fine({ resources: { gpu: 1 } }),
    fine({ queue: 'unserved', tags: ['bulk'] }),
    fine({ queue: 'unserved', startTimeoutMs: 1_000 }),
  ]);
  const chain = [aStep('a', { job: h('fails') }), aStep('b', { parents: [0] }), aStep('c', { parents: [1] })];
  await store.insertWorkflow(aWorkflow(chain), {}, forever);
  const items = aStep('items', { job: h('fine'), forEach: { items: [1, 2, 3, 4, 5], maxParallel: 2 } });
  await store.insertWorkflow(aWorkflow([items, aStep('after', { job: h('fine'), parents: [0] })]), {}, forever);
  await (store.transactional as Transactional).enlist(
    run,
    [fine({ dependsOn: [{ jobId, condition: 'ended' }] })],
    forever,
  );
  const filter = { tags: ['bulk'] };
  await store.createOperation({ action: 'cancel', filter, total: 1, askedBy: null }, forever);
}

test('postgres: everything comes to its end although every hint is lost', async () => {
  await using given = await STORES_WITH_TABLES.postgres();
  const { ask, run } = given;
  const store = withoutHints({ ...given.store, [Symbol.asyncDispose]: () => Promise.resolve() });
  const node = await openNode({ store, settings: NODE_DEFAULTS, log: silentLog });
  const ended = new AbortController();
  const duties = node.runRoles(['scheduler'], ended.signal);
  const worker = new Worker({
    source: node.source(),
    profile: {
      name: 'w',
      slots: 4,
      queues: ['default', 'fair'],
      commands: false,
      handlers: Object.keys(handlers),
      tags: [],
      resources: { gpu: 2 },
    },
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    handlers,
  });
  const working = worker.run();
  await submitAll(given.store, run);
  try {
    await eventually(
      async (saw) => {
        const jobs = await given.store.list({}, { before: null, limit: 100 }, forever);
        const open = jobs.filter(({ status }) => !isTerminal(status));
        return saw(open.map(({ id, status, queue }) => `${id} ${status} ${queue}`)).length === 0 && jobs.length > 25;
      },
      { withinMs: 60_000, everyMs: 250 },
    );
    const tables: Tables = { driver: 'postgres', ask };
    assert.deepEqual(await stranded(tables), []);
    await eventually(async (saw) => saw(await leftBehind(tables)).length === 0);
  } finally {
    await worker.stop();
    await working;
    ended.abort();
    await duties;
    await node.close();
  }
});
