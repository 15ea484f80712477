import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from '../../src/core/backoff.ts';
import { type Backoff, DEFAULT_BACKOFF } from '../../src/core/job.ts';

const steady: Backoff = { ...DEFAULT_BACKOFF, jitter: 0 };

test('backoff: exponential grows from its base by its factor', () => {
  assert.deepEqual(
    [1, 2, 3, 4].map((failures) => backoffMs(steady, failures, 0.5)),
    [5_000, 10_000, 20_000, 40_000],
  );
  assert.deepEqual(
    [1, 2, 3].map((failures) => backoffMs({ ...steady, baseMs: 100, factor: 1.5 }, failures, 0.5)),
    [100, 150, 225],
  );
});

test('backoff: never beyond its cap, however many failures', () => {
  for (const failures of [11, 100, 5_000]) {
    for (const random of [0, 0.5, 0.999]) {
      assert.ok(backoffMs(DEFAULT_BACKOFF, failures, random) <= DEFAULT_BACKOFF.capMs);
      assert.ok(backoffMs(DEFAULT_BACKOFF, failures, random) >= DEFAULT_BACKOFF.capMs * 0.8);
    }
  }
  assert.equal(backoffMs({ ...steady, capMs: 7_000 }, 2, 0.5), 7_000);
});

test('backoff: fixed stays, none does not wait', () => {
  const fixed: Backoff = { ...steady, type: 'fixed', baseMs: 1_500 };
  assert.deepEqual(
    [1, 2, 9].map((failures) => backoffMs(fixed, failures, 0.5)),
    [1_500, 1_500, 1_500],
  );
  assert.equal(backoffMs({ ...DEFAULT_BACKOFF, type: 'none' }, 3, 0.9), 0);
});

test('backoff: varies by its jitter either way, in whole milliseconds', () => {
  assert.equal(backoffMs(DEFAULT_BACKOFF, 1, 0), 4_000);
  assert.equal(backoffMs(DEFAULT_BACKOFF, 1, 0.5), 5_000);
  assert.equal(backoffMs(DEFAULT_BACKOFF, 1, 0.75), 5_500);
  assert.equal(backoffMs({ ...DEFAULT_BACKOFF, jitter: 1 }, 1, 0), 0);
  assert.ok(Number.isInteger(backoffMs({ ...DEFAULT_BACKOFF, baseMs: 333 }, 3, 0.123)));
});
