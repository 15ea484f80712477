import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Heap } from '../../src/store/heap.ts';

interface Item {
  rank: number;
  id: number;
}

function before(a: Item, b: Item): boolean {
  return a.rank === b.rank ? a.id < b.id : a.rank < b.rank;
}

test('heap: whatever was added and deleted, the first is the first of what is left', () => {
  // A number adds an item of that rank; a fraction deletes one of those that are in.
  const adds = fc.nat(1_000);
  const deletes = fc.double({ min: 0.01, max: 0.99, noNaN: true });
  const step = fc.oneof({ weight: 3, arbitrary: adds }, { weight: 1, arbitrary: deletes });
  const steps = fc.array(step, { minLength: 20, maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(steps, (wanted) => {
      const heap = new Heap<Item>(before);
      const left: Item[] = [];
      for (const [id, step] of wanted.entries()) {
        if (Number.isInteger(step)) {
          const item = { rank: step, id };
          heap.add(item);
          left.push(item);
        } else {
          const [gone] = left.splice(Math.floor(step * left.length), 1);
          if (gone === undefined) continue;
          assert.equal(heap.delete(gone), true);
          assert.equal(heap.delete(gone), false);
        }
        left.sort((a, b) => (before(a, b) ? -1 : 1));
        assert.equal(heap.peek(), left[0]);
        assert.equal(heap.size, left.length);
      }
      for (const first of left) {
        assert.equal(heap.peek(), first);
        heap.delete(first);
      }
    }),
    { numRuns: 200, unbiased: true },
  );
});
