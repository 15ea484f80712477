import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTime, span } from '../../src/cli/output/when.ts';

test('span: two units at most, rounded to the smaller one', () => {
  const texts: [number, string][] = [
    [0, '0ms'],
    [999.4, '999ms'],
    [999.6, '1s'],
    [2_999, '3s'],
    [59_700, '1m'],
    [90_600, '1m31s'],
    [3_599_900, '1h'],
    [5_399_000, '1h30m'],
    [86_399_000, '1d'],
    [90_000_000, '1d1h'],
  ];
  for (const [ms, text] of texts) assert.equal(span(ms), text, String(ms));
});

test('run time: of the last attempt; none for a job that ended while it waited for the next one', () => {
  const ran = {
    status: 'done' as const,
    reason: null,
    error: null,
    handler: null,
    started_at: '2026-01-01T00:00:00.000Z',
    done_at: '2026-01-01T00:00:05.000Z',
    cancel_requested_at: null,
  };
  assert.equal(runTime(ran), '5s');
  const cancelled = { ...ran, status: 'cancelled' as const, reason: 'cancelled' as const };
  assert.equal(runTime(cancelled), '–');
  assert.equal(runTime({ ...cancelled, cancel_requested_at: '2026-01-01T00:00:04.000Z' }), '5s');
  assert.equal(runTime({ ...cancelled, handler: 'h', error: 'not needed any more' }), '5s');
  assert.equal(runTime({ ...ran, status: 'failed', reason: 'expired' }), '–');
  assert.equal(runTime({ ...ran, status: 'scheduled', done_at: null }), '–');
});
