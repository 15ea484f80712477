import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fullMeter, type MeterUse, metersOf, nextStart, withStart } from '../../src/core/meter.ts';

const NOW = 1_000_000;

test('rates: a job behind others is expected to start when the rate lets it', () => {
  const rate = fc.record({
    limit: fc.integer({ min: 1, max: 4 }),
    burst: fc.integer({ min: 0, max: 3 }),
    perMs: fc.integer({ min: 1, max: 50 }),
  });
  const state = fc.record({
    rate,
    starts: fc.array(fc.integer({ min: NOW - 60, max: NOW }), { maxLength: 12 }),
    opensAt: fc.option(fc.integer({ min: NOW - 50, max: NOW + 50 }), { nil: null }),
    ahead: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(state, ({ rate: { limit, burst, perMs }, starts, opensAt, ahead }) => {
      const [meter] = metersOf({ limits: [], rates: [{ key: 'k', limit, burst, perMs }] });
      assert.ok(meter);
      let use: MeterUse = { max: null, opensAt, running: 0, starts: [...starts].sort((a, b) => a - b) };
      let now = NOW;
      const before = use;
      // One job after the other starts in the first millisecond in which the rule lets it.
      for (let job = 0; job <= ahead; job += 1) {
        while (fullMeter([meter], () => use, now) !== undefined) now += 1;
        use = withStart(use, meter, now);
      }
      assert.equal(nextStart(meter, before, { now: NOW, ahead }), now);
    }),
  );
});

test('limits: when a place will be free is not known', () => {
  const [meter] = metersOf({ limits: [{ key: 'k', max: 1 }], rates: [] });
  assert.ok(meter);
  const use = { max: null, opensAt: null, running: 1, starts: [] };
  assert.equal(nextStart(meter, use, { now: NOW, ahead: 0 }), null);
});
