/** Which ticks run after a while away, and what the ledger says of the others. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isWorkronError } from '../../src/core/error.ts';
import { parseCron } from '../../src/core/schedule/cron.ts';
import { parseEvery } from '../../src/core/schedule/every.ts';
import { jitterMs } from '../../src/core/schedule/jitter.ts';
import {
  CATCHUP_POLICIES,
  type Catchup,
  DEFAULT_CATCHUP,
  ON_TIME_MS,
  type PlanRequest,
  planTicks,
} from '../../src/core/schedule/plan-ticks.ts';
import { boundedBy, newestTicks, oldestTicks } from '../../src/core/schedule/recurrence.ts';
import { effort } from '../effort.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const at = (time: string): number => Date.parse(`2026-11-15T${time}Z`);

/** `ran 12:00`, `missed 10:00-11:50 x12`. */
function told(request: PlanRequest): string[] {
  const time = (instant: number) => new Date(instant).toISOString().slice(11, 16);
  return planTicks(request).verdicts.map((each) =>
    each.verdict === 'ran'
      ? `ran ${time(each.scheduledFor)}${each.catchup ? ' late' : ''}`
      : `${each.verdict} ${time(each.scheduledFor)}-${time(each.through)} x${each.count}`,
  );
}

const every10m = parseEvery(10 * MINUTE);
const away = { recurrence: every10m, cursor: at('10:00:00'), now: at('12:05:00') };

test('plan: nothing is due before the next tick, and the cursor stays', () => {
  const plan = planTicks({ ...away, now: at('10:09:59.999'), catchup: DEFAULT_CATCHUP });
  assert.deepEqual(plan, { verdicts: [], cursor: at('10:00:00') });
});

test('plan: a tick on time runs under every policy, whatever the window', () => {
  for (const policy of CATCHUP_POLICIES) {
    const plan = planTicks({ ...away, now: at('10:10:00.003'), catchup: { policy, windowMs: 0, max: 1 } });
    assert.deepEqual(plan, {
      verdicts: [{ verdict: 'ran', scheduledFor: at('10:10:00'), latenessMs: 3, catchup: false }],
      cursor: at('10:10:00'),
    });
  }
});

test('plan: none runs nothing late, and calls it missed', () => {
  const catchup: Catchup = { ...DEFAULT_CATCHUP, policy: 'none' };
  assert.deepEqual(told({ ...away, catchup }), ['missed 10:10-12:00 x12']);
  assert.deepEqual(told({ ...away, now: at('12:00:10'), catchup }), ['missed 10:10-11:50 x11', 'ran 12:00']);
  assert.deepEqual(told({ ...away, now: at('12:00:10.001'), catchup }), ['missed 10:10-12:00 x12']);
});

test('plan: latest runs the newest within the window and drops the others of it', () => {
  assert.deepEqual(told({ ...away, catchup: DEFAULT_CATCHUP }), [
    'missed 10:10-11:00 x6',
    'dropped 11:10-11:50 x5',
    'ran 12:00 late',
  ]);
  const narrow: Catchup = { ...DEFAULT_CATCHUP, windowMs: 4 * MINUTE };
  assert.deepEqual(told({ ...away, catchup: narrow }), ['missed 10:10-12:00 x12']);
});

test('plan: all runs those within the window, oldest first, the newest where there are too many', () => {
  const all: Catchup = { ...DEFAULT_CATCHUP, policy: 'all' };
  const ran = ['11:10', '11:20', '11:30', '11:40', '11:50', '12:00'].map((time) => `ran ${time} late`);
  assert.deepEqual(told({ ...away, catchup: all }), ['missed 10:10-11:00 x6', ...ran]);
  assert.deepEqual(told({ ...away, catchup: { ...all, max: 2 } }), [
    'missed 10:10-11:00 x6',
    'dropped 11:10-11:40 x4',
    ...ran.slice(-2),
  ]);
  assert.deepEqual(told({ ...away, catchup: { ...all, windowMs: 3 * HOUR, max: 1 } }), [
    'dropped 10:10-11:50 x11',
    'ran 12:00 late',
  ]);
});

test('plan: a tick exactly as late as the window still runs', () => {
  const catchup: Catchup = { policy: 'all', windowMs: 55 * MINUTE, max: 10 };
  assert.equal(told({ ...away, catchup })[0], 'missed 10:10-11:00 x6');
  assert.equal(told({ ...away, catchup })[1], 'ran 11:10 late');
});

test('plan: ticks while paused are paused; those before are judged as ever', () => {
  const all: Catchup = { ...DEFAULT_CATCHUP, policy: 'all' };
  assert.deepEqual(told({ ...away, catchup: all, pausedAt: at('11:30:00') }), [
    'missed 10:10-11:00 x6',
    'ran 11:10 late',
    'ran 11:20 late',
    'paused 11:30-12:00 x4',
  ]);
  assert.deepEqual(told({ ...away, catchup: all, pausedAt: at('09:00:00') }), ['paused 10:10-12:00 x12']);
});

test('plan: a clock that went back repeats no tick', () => {
  assert.deepEqual(planTicks({ ...away, now: at('09:00:00'), catchup: DEFAULT_CATCHUP }), {
    verdicts: [],
    cursor: at('10:00:00'),
  });
});

test('plan: no tick outside of start_at and end_at has a verdict', () => {
  const recurrence = boundedBy(every10m, { startAt: at('11:40:00'), endAt: at('12:00:00') });
  const catchup: Catchup = { ...DEFAULT_CATCHUP, policy: 'all' };
  assert.deepEqual(told({ ...away, recurrence, catchup }), ['ran 11:40 late', 'ran 11:50 late']);
});

test('plan: thirty days of one-second ticks are three rows', () => {
  const now = at('12:00:00.500');
  const cursor = at('12:00:00') - 30 * 24 * HOUR;
  for (const recurrence of [parseEvery(SECOND), parseCron('* * * * * *', 'Europe/Berlin')]) {
    assert.deepEqual(
      planTicks({ recurrence, cursor, now, catchup: DEFAULT_CATCHUP }).verdicts.map((each) =>
        each.verdict === 'ran' ? 1 : each.count,
      ),
      [30 * 24 * 3_600 - 3_600, 3_599, 1],
    );
  }
});

test('plan: agrees with judging every tick by itself', () => {
  const request = fc.record({
    recurrence: fc.oneof(
      fc.integer({ min: 1_000, max: HOUR }).map((period) => parseEvery(period)),
      fc.constantFrom('*/7 * * * *', '0,30 2 * * *', '15 * * * *').map((text) => parseCron(text, 'America/New_York')),
    ),
    cursor: fc.integer({ min: 0, max: 4 * HOUR }).map((ms) => Date.parse('2027-03-14T05:00Z') + ms),
    awayMs: fc.integer({ min: 0, max: 3 * HOUR }),
    pausedMs: fc.option(fc.integer({ min: -HOUR, max: 3 * HOUR })),
    catchup: fc.record({
      policy: fc.constantFrom(...CATCHUP_POLICIES),
      windowMs: fc.integer({ min: 0, max: 2 * HOUR }),
      max: fc.integer({ min: 1, max: 20 }),
    }),
  });
  fc.assert(
    fc.property(request, ({ recurrence, cursor, awayMs, pausedMs, catchup }) => {
      const now = cursor + awayMs;
      const pausedAt = pausedMs === null ? null : cursor + pausedMs;
      const due = oldestTicks(recurrence, cursor, now, Infinity);
      const plan = planTicks({ recurrence, cursor, now, catchup, pausedAt });
      const judged = plan.verdicts.flatMap((each): { tick: number; verdict: string }[] => {
        const { scheduledFor, verdict } = each;
        if (verdict === 'ran') return [{ tick: scheduledFor, verdict }];
        const ticks = oldestTicks(recurrence, scheduledFor - 1, each.through, Infinity);
        assert.equal(ticks.length, each.count);
        return ticks.map((tick) => ({ tick, verdict }));
      });
      assert.deepEqual(judged, judgeEach(due, now, catchup, pausedAt));
      assert.equal(plan.cursor, due.at(-1) ?? cursor);
    }),
    { numRuns: effort.cronExpressions },
  );
});

function judgeEach(due: number[], now: number, { policy, windowMs, max }: Catchup, pausedAt: number | null) {
  const live = due.filter((tick) => pausedAt === null || tick < pausedAt);
  return due.map((tick) => {
    if (!live.includes(tick)) return { tick, verdict: 'paused' };
    const lateness = now - tick;
    const newer = live.length - 1 - live.indexOf(tick);
    if (policy === 'none') return { tick, verdict: lateness <= ON_TIME_MS && newer === 0 ? 'ran' : 'missed' };
    if (lateness > Math.max(windowMs, ON_TIME_MS)) return { tick, verdict: 'missed' };
    return { tick, verdict: newer < (policy === 'latest' ? 1 : max) ? 'ran' : 'dropped' };
  });
}

test('every: ticks are aligned to the anchor, before it too', () => {
  const recurrence = parseEvery(90 * SECOND, 10 * SECOND);
  assert.deepEqual(oldestTicks(recurrence, -100 * SECOND, 100 * SECOND, 9), [-80_000, 10_000, 100_000]);
  assert.deepEqual(newestTicks(recurrence, -100 * SECOND, 100 * SECOND, 2), [10_000, 100_000]);
  assert.equal(recurrence.count(-100 * SECOND, 100 * SECOND), 3);
  assert.equal(recurrence.previous(10_000), -80_000);
  assert.equal(recurrence.next(10_000), 100_000);
});

test('every: shorter than a second, longer than ten years, or broken is refused', () => {
  for (const period of [999, 0, -1, 1_000.5, Number.NaN, 3_651 * 24 * HOUR]) {
    assert.throws(
      () => parseEvery(period),
      (error) => isWorkronError(error, 'schedule_invalid'),
    );
  }
  assert.throws(() => parseEvery(SECOND, Number.NaN), /anchor: expected an instant/);
});

test('jitter: the same for ever, within the window, spread evenly', () => {
  assert.equal(jitterMs('nightly', 'tenant-a', HOUR), jitterMs('nightly', 'tenant-a', HOUR));
  assert.deepEqual(
    ['tenant-a', 'tenant-b', ''].map((key) => jitterMs('nightly', key, HOUR)),
    [2194636, 751506, 532927],
  );
  assert.equal(jitterMs('nightly', 'tenant-a', 0), 0);
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let tenant = 0; tenant < 1_000; tenant += 1) {
    const offset = jitterMs('nightly', `tenant-${tenant}`, HOUR);
    assert.ok(offset >= 0 && offset < HOUR);
    const tenth = Math.floor((offset / HOUR) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) assert.ok(count > 60 && count < 140, tenths.join(' '));
});
