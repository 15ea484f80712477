import assert from 'node:assert/strict';
import { STAT_BUCKETS_MS, type StatRow } from '../src/core/stats.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const MINUTE = Date.UTC(2026, 0, 1, 12);

function histogram(...counts: number[]): number[] {
  return Array.from({ length: STAT_BUCKETS_MS.length + 1 }, (_, bucket) => counts[bucket] ?? 0);
}

function row(wanted: Partial<StatRow>): StatRow {
  return {
    minute: MINUTE,
    instanceId: 'i',
    queue: 'q',
    outcome: 'done',
    count: 1,
    wait: histogram(1),
    run: histogram(0, 1),
    ...wanted,
  };
}

export function exerciseStats(open: OpenStore): void {
  const test = withStore(open);
  const range = { from: MINUTE, to: MINUTE + 3_600_000 };

  test('stats: counts are summed over calls and instances', async ({ store }) => {
    await store.addStats([row({}), row({ instanceId: 'other', count: 2, wait: histogram(0, 0, 2) })], forever);
    await store.addStats([row({ count: 4, run: histogram(4) }), row({ count: 8, run: histogram(8) })], forever);
    assert.deepEqual(await store.stats(range, forever), [
      row({ instanceId: '', count: 15, wait: histogram(3, 0, 2), run: histogram(12, 2) }),
    ]);
  });

  test('stats: returns the rows of the requested minutes by minute, queue and outcome', async ({ store }) => {
    const later = MINUTE + 60_000;
    await store.addStats(
      [
        row({ minute: later }),
        row({ queue: 'a' }),
        row({ queue: 'B' }),
        row({ outcome: 'submitted' }),
        row({ outcome: 'cancelled' }),
        row({ minute: MINUTE - 60_000 }),
        row({ minute: range.to }),
      ],
      forever,
    );
    assert.deepEqual(
      (await store.stats(range, forever)).map(({ minute, queue, outcome }) => [minute, queue, outcome]),
      [
        [MINUTE, 'B', 'done'],
        [MINUTE, 'a', 'done'],
        [MINUTE, 'q', 'cancelled'],
        [MINUTE, 'q', 'submitted'],
        [later, 'q', 'done'],
      ],
    );
    await store.addStats([], forever);
  });

  test('stats: concurrent calls lose no counts', async ({ store }) => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => store.addStats([row({ instanceId: `${i % 2}` })], forever)));
    const [sum, ...others] = await store.stats(range, forever);
    assert.deepEqual(others, []);
    assert.equal(sum?.count, 10);
  });
}
