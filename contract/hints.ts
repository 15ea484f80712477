import assert from 'node:assert/strict';
import type { Hint } from '../src/store/hint.ts';
import { aJob } from './kit/builders.ts';
import { nextHint } from './kit/hints.ts';
import { beat, cancel, claimOne, forever, register, report, retry, submitOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseHints(open: OpenStore): void {
  const test = withStore(open);

  test('hints: a submitted job sends a work hint', async ({ store }) => {
    const work = nextHint(store, 'work');
    await submitOne(store, aJob());
    await work;
  });

  test('hints: a job that is promoted, given back, interrupted, retried or edited, or whose queue is resumed, sends a work hint', async ({
    store,
    advance,
  }) => {
    await submitOne(store, aJob({ delayMs: 1_000 }));
    await advance(2_000);
    const hinted = async (act: () => Promise<unknown>) => {
      const work = nextHint(store, 'work');
      await act();
      await work;
    };
    await hinted(() => store.promote(10, forever));
    const first = await claimOne(store);
    await hinted(() => beat(store, first.workerId, [], 1));
    const second = await claimOne(store, null, first.workerId);
    await hinted(() => report(store, second, { type: 'interrupted', error: 'drained' }));
    await hinted(() => store.edit(second.job.id, { queue: 'other' }, forever));
    await cancel(store, second.job.id);
    await hinted(() => retry(store, second.job.id));
    await store.setQueue('other', { paused: true }, forever);
    await hinted(() => store.setQueue('other', { paused: false }, forever));
  });

  test('hints: a hint names the jobs that have ended', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const { id: waiting } = await submitOne(store, aJob());
    const ended = nextHint(store, 'jobs', ({ ids }) => ids.includes(lease.job.id));
    await succeed(store, lease);
    await ended;
    const cancelled = nextHint(store, 'jobs', ({ ids }) => ids.includes(waiting));
    await cancel(store, waiting);
    await cancelled;
  });

  test('hints: a cancel request and a drain send a hint to the worker', async ({ store }) => {
    const lease = await claimOne(store, aJob());
    const stop = nextHint(store, 'workers', ({ ids }) => ids.includes(lease.workerId));
    await cancel(store, lease.job.id);
    await stop;
    const { id } = await register(store);
    const drain = nextHint(store, 'workers', ({ ids }) => ids.includes(id));
    await store.drainWorker(id, forever);
    await drain;
  });

  test('hints: an undrain sends a hint to the worker, and to its waiting claim', async ({ store }) => {
    const { id } = await register(store);
    await store.drainWorker(id, forever);
    const told = nextHint(store, 'workers', ({ ids }) => ids.includes(id));
    const work = nextHint(store, 'work');
    await store.undrainWorker(id, forever);
    await Promise.all([told, work]);
  });

  test('hints: a scheduled job sends a hint with its due time', async ({ store }) => {
    const due = nextHint(store, 'due');
    const job = await submitOne(store, aJob({ delayMs: 60_000 }));
    assert.ok((await due).at <= job.dueAt);
  });

  test('hints: a hint follows the call that causes it, and none is delivered after unsubscribing', async ({
    store,
  }) => {
    let calling = false;
    const seen: boolean[] = [];
    const heard: Hint[] = [];
    const unsubscribe = store.subscribe((hint) => heard.push(hint));
    unsubscribe();
    const work = nextHint(store, 'work', () => {
      seen.push(calling);
      return true;
    });
    calling = true;
    const inserted = store.insert([aJob()], {}, forever);
    calling = false;
    await Promise.all([inserted, work]);
    assert.deepEqual(seen, [false]);
    assert.deepEqual(heard, []);
  });
}
