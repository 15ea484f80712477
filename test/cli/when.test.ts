import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, moment, runTime, span, withMoments } from '../../src/cli/output/when.ts';

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

test("moment: the viewer's clock and how far it is on a terminal, the instant in a pipe", () => {
  const now = Date.parse('2026-11-17T12:00:00.000Z');
  const sentence = 'its next attempt at 2026-11-17T12:05:00.250Z (1 of 3 attempts have failed)';
  seenOn('terminal', () => {
    assert.equal(clock('2026-11-17T12:05:00.250Z', now), '13:05:00');
    assert.equal(moment('2026-11-17T12:05:00.250Z', now), '13:05:00 (in 5m)');
    // Tomorrow by the viewer's clock, though not in UTC.
    assert.equal(moment('2026-11-17T23:30:00.000Z', now), '2026-11-18 00:30:00 (in 11h30m)');
    assert.equal(withMoments(sentence, now), 'its next attempt at 13:05:00 (in 5m) (1 of 3 attempts have failed)');
  });
  seenOn('pipe', () => {
    assert.equal(clock('2026-11-17T12:05:00.000Z', now), '2026-11-17T12:05:00Z');
    assert.equal(moment('2026-11-17T12:05:00.250Z', now), '2026-11-17T12:05:00.250Z');
    assert.equal(withMoments(sentence, now), sentence);
  });
});

function seenOn(place: 'terminal' | 'pipe', check: () => void): void {
  const { isTTY } = process.stdout;
  const { TZ } = process.env;
  process.stdout.isTTY = place === 'terminal';
  process.env.TZ = 'Europe/Berlin';
  try {
    check();
  } finally {
    process.stdout.isTTY = isTTY;
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  }
}
