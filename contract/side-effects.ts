import assert from 'node:assert/strict';
import type { SideEffects } from '../src/store/hint.ts';
import type { Store } from '../src/store/store.ts';
import { aStep, aWorkflow } from './kit/builders.ts';
import { Hands, settleDown, submitChain, submitWorkflow } from './kit/graph.ts';
import { cancel } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** All side effects so far, as one. */
function observed(store: Store): () => { ended: number[]; items: Record<number, number> } {
  const seen: SideEffects[] = [];
  store.observe((effects) => seen.push(structuredClone(effects)));
  return () => {
    const items: Record<number, number> = {};
    for (const { groupId, count } of seen.flatMap((effects) => effects.items)) {
      items[groupId] = (items[groupId] ?? 0) + count;
    }
    return { ended: seen.flatMap(({ ended }) => ended).sort((a, b) => a - b), items };
  };
}

export function exerciseSideEffects(open: OpenStore): void {
  const test = withStore(open);

  test('side effects: every job that ends because of others is told once, and not the job that was asked for', async ({
    store,
  }) => {
    const told = observed(store);
    const failing = await submitChain(store, 4);
    await (await Hands.of(store)).failed(failing[0] ?? assert.fail());
    await settleDown(store);
    const cancelled = await submitChain(store, 3);
    await cancel(store, cancelled[0]?.id ?? 0);
    await settleDown(store);
    assert.deepEqual(
      told().ended,
      [...failing.slice(1), ...cancelled.slice(1)].map(({ id }) => id),
    );
  });

  test('side effects: inserted items are told by group, and the end of the group', async ({ store }) => {
    const told = observed(store);
    const hands = await Hands.of(store);
    const forEach = { items: [1, 2, 3], maxParallel: null };
    const { step } = await submitWorkflow(
      store,
      aWorkflow([aStep('each', { forEach }), aStep('next', { parents: [0] })]),
    );
    const group = step['each'] ?? 0;
    await settleDown(store);
    assert.deepEqual(told(), { ended: [], items: { [group]: 3 } });
    for (const item of await hands.take()) await hands.done(item);
    await settleDown(store);
    assert.deepEqual(told(), { ended: [group], items: { [group]: 3 } });
  });

  test('side effects: who no longer observes is told nothing', async ({ store }) => {
    let calls = 0;
    const stop = store.observe(() => (calls += 1));
    stop();
    const [first] = await submitChain(store, 2);
    await cancel(store, first?.id ?? 0);
    await settleDown(store);
    assert.equal(calls, 0);
  });
}
