import assert from 'node:assert/strict';
import type { Settled } from '../src/core/lease.ts';
import { aStep, aWorkflow } from './kit/builders.ts';
import { Hands, readWorkflow, statuses, submitWorkflow } from './kit/graph.ts';
import { cancel, forever, success } from './kit/steps.ts';
import { type OpenStore, type TestStore, withStore } from './kit/store.ts';

const WIDTH = 16;

type Step = ReturnType<typeof aStep>;

/** `WIDTH` heads, which are settled in one call, and as many tails, each a child of two heads; then the steps of `more`. */
const wide = (more: readonly Step[] = []) =>
  aWorkflow([
    ...Array.from({ length: WIDTH }, (_, place) => aStep(`head-${place}`)),
    ...Array.from({ length: WIDTH }, (_, place) => aStep(`tail-${place}`, { parents: [place, (place + 1) % WIDTH] })),
    ...more,
  ]);

const all = (kind: string) => Array.from({ length: WIDTH }, (_, place) => `${kind}-${place}`);

/** Settles these jobs in one call and returns the result of each. */
async function endTogether(
  { store }: Pick<TestStore, 'store'>,
  hands: Hands,
  jobIds: readonly number[],
): Promise<string[]> {
  const leases = await Promise.all(jobIds.map((id) => hands.lease(id)));
  const settled: Settled[] = await store.settle(
    leases.map((lease) => success(lease)),
    forever,
  );
  return settled.map(({ result }) => result);
}

export function exerciseStepsTogether(open: OpenStore): void {
  const test = withStore(open);

  test('steps together: many that end in one call free all children that waited for them, and are counted', async (given) => {
    const { store } = given;
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, wide());
    const ids = (kind: string) => all(kind).map((key) => step[key] ?? 0);
    await hands.take();
    assert.deepEqual(new Set(await endTogether(given, hands, ids('head').slice(0, -1))), new Set(['ok']));
    assert.deepEqual(await statuses(store, ids('tail')), [...Array(WIDTH - 2).fill('pending'), 'blocked', 'blocked']);
    assert.deepEqual((await readWorkflow(store, workflow)).counts, {
      open: WIDTH + 1,
      fine: WIDTH - 1,
      failed: 0,
      cancelled: 0,
    });

    assert.deepEqual(await endTogether(given, hands, ids('head').slice(-1)), ['ok']);
    assert.deepEqual(await hands.take(), ids('tail'));
    assert.deepEqual(new Set(await endTogether(given, hands, ids('tail'))), new Set(['ok']));
    const { status, endedAt, counts } = await readWorkflow(store, workflow);
    assert.equal(status, 'done');
    assert.ok(endedAt !== null);
    assert.deepEqual(counts, { open: 0, fine: 2 * WIDTH, failed: 0, cancelled: 0 });
  });

  test('steps together: one among many whose failure was waited for leaves nobody waiting', async (given) => {
    const { store } = given;
    const hands = await Hands.of(store);
    const more = [
      aStep('rescue', { parents: [3], condition: 'failure' }),
      aStep('report', { parents: [3, 4], condition: 'ended' }),
    ];
    const { workflow, step } = await submitWorkflow(store, wide(more));
    await hands.take();
    const heads = all('head').map((key) => step[key] ?? 0);
    assert.deepEqual(new Set(await endTogether(given, hands, heads)), new Set(['ok']));
    const others = ['rescue', 'report', 'tail-2', 'tail-3'].map((key) => step[key] ?? 0);
    assert.deepEqual(await statuses(store, others), ['skipped', 'pending', 'pending', 'pending']);
    assert.deepEqual((await readWorkflow(store, workflow)).counts, {
      open: WIDTH + 1,
      fine: WIDTH + 1,
      failed: 0,
      cancelled: 0,
    });
  });

  test('steps together: a child that has ended before, or waits for others too, stays what it is', async (given) => {
    const { store } = given;
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, wide());
    const id = (key: string) => step[key] ?? 0;
    await hands.take();
    await cancel(store, id('tail-5'));
    const heads = all('head')
      .map(id)
      .filter((head) => head !== id('head-9'));
    assert.deepEqual(new Set(await endTogether(given, hands, heads)), new Set(['ok']));
    const looked = ['tail-4', 'tail-5', 'tail-6', 'tail-8', 'tail-9', 'tail-10'].map(id);
    assert.deepEqual(await statuses(store, looked), [
      'pending',
      'cancelled',
      'pending',
      'blocked',
      'blocked',
      'pending',
    ]);
    assert.deepEqual((await readWorkflow(store, workflow)).counts, {
      open: WIDTH,
      fine: WIDTH - 1,
      failed: 0,
      cancelled: 1,
    });
  });

  test('steps together: one that was lost in between is refused alone, and frees nobody', async (given) => {
    const { store } = given;
    const hands = await Hands.of(store);
    const { workflow, step } = await submitWorkflow(store, wide());
    const id = (key: string) => step[key] ?? 0;
    await hands.take();
    const leases = await Promise.all(all('head').map((key) => hands.lease(id(key))));
    const reports = leases
      .map((lease) => success(lease))
      .map((report, place) => (place === 7 ? { ...report, attempt: 9 } : report));
    const settled = await store.settle(reports, forever);
    assert.deepEqual(
      settled.map(({ result }) => result),
      all('head').map((_, place) => (place === 7 ? 'lease_lost' : 'ok')),
    );
    const again = await store.settle(reports, forever);
    assert.deepEqual(
      again.map((answer) => (answer.result === 'ok' ? answer.fresh : answer.result)),
      all('head').map((_, place) => (place === 7 ? 'lease_lost' : false)),
    );
    assert.deepEqual(await statuses(store, ['tail-5', 'tail-6', 'tail-7', 'tail-8'].map(id)), [
      'pending',
      'blocked',
      'blocked',
      'pending',
    ]);
    assert.deepEqual((await readWorkflow(store, workflow)).counts, {
      open: WIDTH + 1,
      fine: WIDTH - 1,
      failed: 0,
      cancelled: 0,
    });
  });
}
