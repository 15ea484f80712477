import assert from 'node:assert/strict';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseOperations(open: OpenStore): void {
  const test = withStore(open);
  const wanted = {
    action: 'cancel',
    filter: { statuses: ['pending'], tags: ['x'], createdTo: 5 },
    total: 7,
    askedBy: { actor: 'ada', address: '127.0.0.1', requestId: 'r1', partOf: 7 },
  } as const;

  test('operations: a new operation starts without progress', async ({ store }) => {
    const created = await store.createOperation(wanted, forever);
    const { id, createdAt, ...rest } = created;
    assert.ok(id > 0 && createdAt > 0);
    assert.deepEqual(rest, { ...wanted, status: 'running', cursor: null, changed: 0, skipped: 0, endedAt: null });
    assert.deepEqual(await store.operation(id, forever), created);
    assert.equal(await store.operation(9_999, forever), undefined);
  });

  test('operations: each step is accepted once, from the first caller', async ({ store }) => {
    const { id } = await store.createOperation(wanted, forever);
    const step = { cursor: 50, changed: 3, skipped: 1, status: 'running' } as const;
    const taken = await Promise.all([1, 2, 3].map(() => store.advanceOperation(id, null, step, forever)));
    assert.equal(taken.filter((mine) => mine).length, 1);
    assert.equal(await store.advanceOperation(id, 49, step, forever), false);
    assert.equal(await store.advanceOperation(id, 50, { ...step, cursor: 20 }, forever), true);
    const now = await store.operation(id, forever);
    assert.deepEqual([now?.cursor, now?.changed, now?.skipped, now?.status], [20, 6, 2, 'running']);
    assert.equal(await store.advanceOperation(9_999, null, step, forever), false);
  });

  test('operations: an ended operation accepts no further steps', async ({ store }) => {
    const [first, second] = [
      await store.createOperation(wanted, forever),
      await store.createOperation(wanted, forever),
    ];
    assert.deepEqual(
      (await store.openOperations(forever)).map(({ id }) => id),
      [first.id, second.id],
    );
    const last = { cursor: 1, changed: 1, skipped: 0, status: 'done' } as const;
    assert.equal(await store.advanceOperation(first.id, null, last, forever), true);
    assert.equal(await store.advanceOperation(first.id, 1, last, forever), false);
    const ended = await store.operation(first.id, forever);
    assert.equal(ended?.status, 'done');
    assert.ok((ended.endedAt ?? 0) >= first.createdAt);
    assert.deepEqual(await store.openOperations(forever), [second]);
  });
}
