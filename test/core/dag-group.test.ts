import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GroupProgress, groupEnd, groupFailure, MAX_ITEMS, resolveItems } from '../../src/core/dag/group.ts';

function progress(wanted: Partial<GroupProgress['counts']> & Partial<GroupProgress>) {
  const { total = 3, inserted = 3, cancelRequested = false, ...counts } = wanted;
  return groupEnd({
    total,
    inserted,
    cancelRequested,
    counts: { open: 0, fine: 0, failed: 0, cancelled: 0, ...counts },
  });
}

test('group: the list is what was given, or what the path leads to', () => {
  assert.deepEqual(resolveItems([1, 2], undefined), { items: [1, 2] });
  assert.deepEqual(resolveItems({ path: [] }, ['a']), { items: ['a'] });
  assert.deepEqual(resolveItems({ path: ['a', 'b'] }, { a: { b: [] } }), { items: [] });
  assert.deepEqual(resolveItems({ path: ['1'] }, [0, [7]]), { items: [7] });
});

test('group: what is no list is an error that says what was expected and what came', () => {
  const cases: [unknown, string][] = [
    [undefined, 'nothing'],
    [null, 'null'],
    [{}, 'an object'],
    [7, 'a number'],
    ['[1]', 'a string'],
  ];
  for (const [result, came] of cases) {
    assert.deepEqual(resolveItems({ path: [] }, result), { error: `for_each: expected a list at result, got ${came}` });
  }
  assert.deepEqual(resolveItems({ path: ['a', 'b'] }, { a: 'text' }), {
    error: 'for_each: expected a list at result.a.b, got nothing',
  });
});

test('group: names that every object has lead nowhere', () => {
  for (const key of ['constructor', '__proto__', 'toString']) {
    assert.ok('error' in resolveItems({ path: [key] }, {}));
  }
});

test('group: a list has its limit', () => {
  assert.ok('items' in resolveItems(Array.from({ length: MAX_ITEMS }), undefined));
  assert.deepEqual(resolveItems(Array.from({ length: MAX_ITEMS + 1 }), undefined), {
    error: `for_each: expected at most ${MAX_ITEMS} items at for_each, got ${MAX_ITEMS + 1}`,
  });
});

test('group: ends when all items have, a failure before a cancellation', () => {
  assert.equal(progress({ open: 1, fine: 2 }), undefined);
  assert.equal(progress({ inserted: 2, fine: 2 }), undefined, 'there are more to come');
  assert.equal(progress({ total: null, inserted: 0 }), undefined, 'how many is not known');
  assert.equal(progress({ fine: 3 }), 'done');
  assert.equal(progress({ total: 0, inserted: 0 }), 'done');
  assert.equal(progress({ fine: 1, failed: 1, cancelled: 1 }), 'failed');
  assert.equal(progress({ fine: 2, cancelled: 1 }), 'cancelled');
});

test('group: asked to stop, it waits for what it has given out, and then is done or cancelled', () => {
  const cancelRequested = true;
  assert.equal(progress({ cancelRequested, inserted: 2, open: 1, fine: 1 }), undefined);
  assert.equal(progress({ cancelRequested, inserted: 2, fine: 2 }), 'cancelled');
  assert.equal(progress({ cancelRequested, total: null, inserted: 0 }), 'cancelled');
  assert.equal(progress({ cancelRequested, fine: 2, failed: 1 }), 'cancelled');
  assert.equal(progress({ cancelRequested, fine: 3 }), 'done');
});

test('group: the reason and error are those of the first failed item', () => {
  assert.deepEqual(groupFailure({ index: 3, reason: 'exit', error: 'exit 7' }), {
    reason: 'exit',
    error: 'item 3: exit 7',
  });
  assert.equal(groupFailure({ index: 0, reason: 'expired', error: null }).error, 'item 0: expired');
});
