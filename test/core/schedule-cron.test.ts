/** What cron expressions mean, by example, and how wrong ones are refused. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWorkronError } from '../../src/core/error.ts';
import { wallTimeOf } from '../../src/core/schedule/clock-note.ts';
import { parseCron } from '../../src/core/schedule/cron.ts';
import { boundedBy, oldestTicks, requireTicks } from '../../src/core/schedule/recurrence.ts';
import { zoneOf } from '../../src/core/schedule/zone.ts';

/** The next ticks as the wall clock shows them. */
function fires(expression: string, timezone: string, after: string, count: number): string[] {
  const ticks = oldestTicks(parseCron(expression, timezone), Date.parse(after), Infinity, count);
  return ticks.map((tick) => wallTimeOf(zoneOf(timezone), tick).text);
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    assert.ok(isWorkronError(error, 'schedule_invalid'), String(error));
    return error.message;
  }
  return assert.fail('it was accepted');
}

test('cron: a list of times in a gap runs once, at the first instant after it', () => {
  assert.deepEqual(fires('0,30 2 * * *', 'America/New_York', '2027-03-14T05:00Z', 3), [
    '2027-03-14T03:00:00-04:00',
    '2027-03-15T02:00:00-04:00',
    '2027-03-15T02:30:00-04:00',
  ]);
});

test('cron: a time in a gap and a tick of its own at the first instant after it are one tick', () => {
  assert.deepEqual(fires('0 2,3 * * *', 'America/New_York', '2027-03-14T05:00Z', 2), [
    '2027-03-14T03:00:00-04:00',
    '2027-03-15T02:00:00-04:00',
  ]);
  const day = [Date.parse('2027-03-14T05:00Z'), Date.parse('2027-03-15T04:00Z')] as const;
  assert.equal(parseCron('0 2,3 * * *', 'America/New_York').count(...day), 1);
});

test('cron: of several expressions each keeps its own clock rule', () => {
  // In the gap, the fixed 02:30 and the wildcard both name 03:00; in the repeated hour only the wildcard runs twice.
  const expression = '30 2 * * *; */30 3 * * *; 30 1 * * *';
  assert.deepEqual(fires(expression, 'America/New_York', '2027-03-14T05:00Z', 4), [
    '2027-03-14T01:30:00-05:00',
    '2027-03-14T03:00:00-04:00',
    '2027-03-14T03:30:00-04:00',
    '2027-03-15T01:30:00-04:00',
  ]);
  const day = [Date.parse('2027-03-14T05:00Z'), Date.parse('2027-03-15T04:00Z')] as const;
  assert.equal(parseCron(expression, 'America/New_York').count(...day), 3);
});

test('cron: thirty days of seconds in two expressions are counted without looking at each', () => {
  const both = parseCron('*/2 * * * * *; */3 * * * * *', 'Europe/Berlin');
  const from = Date.parse('2026-03-01T00:00:00Z') - 1;
  assert.equal(both.count(from, from + 30 * 86_400_000), (30 * 86_400 * 4) / 6);
});

test('cron: too many expressions, and an empty one between separators, are refused', () => {
  assert.match(
    refusal(() => parseCron('0 0 * * *;'.repeat(20), 'UTC')),
    /at most 16 expressions, got 21/,
  );
  assert.match(
    refusal(() => parseCron('0 0 * * *;', 'UTC')),
    /expected 5 fields/,
  );
  assert.match(
    refusal(() => parseCron('0 0 * * *; 0 25 * * *', 'UTC')),
    /hour: expected 0–23/,
  );
});

test('cron: a fixed time in the repeated hour runs the first time only', () => {
  assert.deepEqual(fires('30 0-2 * * *', 'America/New_York', '2027-11-07T04:00Z', 4), [
    '2027-11-07T00:30:00-04:00',
    '2027-11-07T01:30:00-04:00',
    '2027-11-07T02:30:00-05:00',
    '2027-11-08T00:30:00-05:00',
  ]);
});

test('cron: a wildcard follows real time through both changes', () => {
  assert.deepEqual(fires('30 * * * *', 'America/New_York', '2027-11-07T05:00Z', 3), [
    '2027-11-07T01:30:00-04:00',
    '2027-11-07T01:30:00-05:00',
    '2027-11-07T02:30:00-05:00',
  ]);
  assert.deepEqual(fires('*/30 1-3 * * *', 'America/New_York', '2027-03-14T06:00Z', 3), [
    '2027-03-14T01:30:00-05:00',
    '2027-03-14T03:00:00-04:00',
    '2027-03-14T03:30:00-04:00',
  ]);
});

test('cron: a wildcard that comes once a year still runs in both repeated hours', () => {
  assert.deepEqual(fires('*/30 1 7 11 *', 'America/New_York', '2027-11-07T05:15Z', 3), [
    '2027-11-07T01:30:00-04:00',
    '2027-11-07T01:00:00-05:00',
    '2027-11-07T01:30:00-05:00',
  ]);
});

test('cron: previous finds a yearly fixed tick from within the hour that repeats it', () => {
  const recurrence = parseCron('30 1 7 11 *', 'America/New_York');
  assert.equal(recurrence.previous(Date.parse('2027-11-07T06:10Z')), Date.parse('2027-11-07T05:30Z'));
});

test('cron: seconds come first, and those of a minute in a gap are one tick', () => {
  assert.deepEqual(fires('*/20 59 23 * * *', 'UTC', '2026-12-31T23:59:10Z', 3), [
    '2026-12-31T23:59:20+00:00',
    '2026-12-31T23:59:40+00:00',
    '2027-01-01T23:59:00+00:00',
  ]);
  assert.deepEqual(fires('*/20 30 2 * * *', 'Europe/Berlin', '2026-03-28T23:00Z', 2), [
    '2026-03-29T03:00:00+02:00',
    '2026-03-30T02:30:00+02:00',
  ]);
});

test('cron: the day that Apia left out is one tick at the start of the next', () => {
  assert.deepEqual(fires('0 6,18 * * *', 'Pacific/Apia', '2011-12-30T05:00Z', 3), [
    '2011-12-31T00:00:00+14:00',
    '2011-12-31T06:00:00+14:00',
    '2011-12-31T18:00:00+14:00',
  ]);
});

test('cron: day of month and day of week, both given, mean either', () => {
  const dates = fires('0 0 13 * FRI', 'UTC', '2026-11-01T00:00Z', 4).map((text) => text.slice(0, 10));
  assert.deepEqual(dates, ['2026-11-06', '2026-11-13', '2026-11-20', '2026-11-27']);
  const daily = fires('0 0 */1 * FRI', 'UTC', '2026-11-01T00:00Z', 2).map((text) => text.slice(0, 10));
  assert.deepEqual(daily, ['2026-11-06', '2026-11-13']);
});

for (const [expression, first, second] of [
  ['0 0 L * *', '2027-01-31', '2027-02-28'],
  ['0 0 LW * *', '2027-01-29', '2027-02-26'],
  ['0 0 15W * *', '2027-01-15', '2027-02-15'],
  ['0 0 1W * *', '2027-01-01', '2027-02-01'],
  ['0 0 1W 5 *', '2027-05-03', '2028-05-01'],
  ['0 0 31w * *', '2027-01-29', '2027-03-31'],
  ['0 0 ? * mon#2', '2027-01-11', '2027-02-08'],
  ['0 0 ? * FRIL', '2027-01-29', '2027-02-26'],
  ['0 0 * * 5#L', '2027-01-29', '2027-02-26'],
  ['0 0 * * SAT-SUN', '2027-01-02', '2027-01-03'],
  ['0 0 * * 7', '2027-01-03', '2027-01-10'],
  ['0 0 29 FEB *', '2028-02-29', '2032-02-29'],
  ['0 0 * 2 1#5', '2044-02-29', '2072-02-29'],
  ['@monthly', '2027-01-01', '2027-02-01'],
  ['@weekly', '2027-01-03', '2027-01-10'],
  ['@annually', '2027-01-01', '2028-01-01'],
  ['@midnight', '2027-01-01', '2027-01-02'],
] as const) {
  test(`cron: ${expression} names ${first}, then ${second}`, () => {
    const dates = fires(expression, 'UTC', '2026-12-31T12:00Z', 2).map((text) => text.slice(0, 10));
    assert.deepEqual(dates, [first, second]);
  });
}

for (const [expression, said] of [
  ['0 25 * * *', 'cron: hour: expected 0–23, got "25"'],
  ['0 0 * FOO *', 'cron: month: expected 1–12 or a name such as FEB, got "FOO"'],
  ['0 0 0 * *', 'cron: day of month: expected 1–31, got "0"'],
  ['0 0 * * 8', 'cron: day of week: expected 0–7 or a name such as MON, got "8"'],
  ['-1 * * * *', 'cron: minute: expected 0–59, got ""'],
  ['*/90 * * * *', 'cron: minute: expected a step from 1 to 60, got "*/90"'],
  ['*/0 * * * *', 'cron: minute: expected a step from 1 to 60, got "*/0"'],
  ['1/2/3 * * * *', 'cron: minute: expected one step at most, got "1/2/3"'],
  ['0 22-2 * * *', 'cron: hour: expected a range from low to high (two ranges where it wraps around), got "22-2"'],
  ['1,,2 * * * *', 'cron: minute: expected a value on each side of every comma, got "1,,2"'],
  ['0 0 L-3 * *', 'cron: day of month: expected L, LW or a day and W, such as 15W, got "L-3"'],
  ['0 0 * * L', 'cron: day of week: expected a weekday before L, such as FRIL for the last Friday, got "L"'],
  ['0 0 * * MON#6', 'cron: day of week: expected 1 to 5 or L after #, such as MON#2, got "MON#6"'],
  ['* * * *', 'cron: expected 5 fields, or 6 with seconds first, got 4 in "* * * *"'],
  ['0 0 0 1 1 * 2027', 'cron: expected 5 fields, or 6 with seconds first, got 7 in "0 0 0 1 1 * 2027"'],
  ['  ', 'cron: expected 5 fields, or 6 with seconds first, got none'],
] as const) {
  test(`cron: "${expression}" is refused`, () => {
    assert.equal(
      refusal(() => parseCron(expression, 'UTC')),
      said,
    );
  });
}

test('cron: a misspelt macro or zone gets a suggestion, an offset is no zone', () => {
  assert.match(
    refusal(() => parseCron('@dayly', 'UTC')),
    /got "@dayly"; did you mean @daily\?$/,
  );
  assert.match(
    refusal(() => parseCron('@reboot', 'UTC')),
    /got "@reboot"/,
  );
  assert.match(
    refusal(() => parseCron('@daily', 'Europe/Berlni')),
    /did you mean Europe\/Berlin\?$/,
  );
  assert.match(
    refusal(() => parseCron('@daily', '+02:00')),
    /^timezone: expected an IANA name/,
  );
});

test('cron: what no calendar has is refused', () => {
  for (const never of ['0 0 31 2 *', '0 0 30,31 FEB *', '0 0 31 4,6,9,11 *', '0 0 31W 2 *']) {
    assert.match(
      refusal(() => parseCron(never, 'UTC')),
      /never fires/,
    );
  }
});

test('cron: what the clock always leaves out has no next tick, and requireTicks refuses it', () => {
  const shadowed = parseCron('* 2 * 3 SUN#2', 'America/New_York');
  const now = Date.parse('2026-01-01T00:00Z');
  assert.equal(shadowed.next(now), null);
  assert.match(
    refusal(() => requireTicks(shadowed, now)),
    /never fires/,
  );
});

test('cron: instants at the end of time have no next tick, and break nothing', () => {
  const daily = parseCron('@daily', 'Europe/Berlin');
  assert.equal(daily.next(8.64e15), null);
  assert.equal(daily.next(8.6e15 - 1), null);
  assert.equal(daily.previous(-8.64e15), null);
  assert.equal(daily.previous(Number.POSITIVE_INFINITY), null);
  assert.ok((daily.next(-8.5e15) as number) > -8.5e15);
});

test('bounds: start_at is included, end_at is not', () => {
  const [start, end] = [Date.parse('2027-01-10T00:00Z'), Date.parse('2027-01-12T00:00Z')];
  const bounded = boundedBy(parseCron('@daily', 'UTC'), { startAt: start, endAt: end });
  assert.deepEqual(oldestTicks(bounded, 0, Infinity, 10), [start, start + 86_400_000]);
  assert.equal(bounded.previous(Infinity), start + 86_400_000);
  assert.equal(bounded.previous(start), null);
  assert.equal(bounded.count(0, Number.MAX_SAFE_INTEGER), 2);
});

test('clock note: says which ticks stand next to a clock change', () => {
  const zone = zoneOf('Europe/Berlin');
  const note = (instant: string) => wallTimeOf(zone, Date.parse(instant)).note;
  assert.equal(note('2026-03-29T00:59:59Z'), null);
  assert.equal(note('2026-03-29T01:00Z'), 'after_gap');
  assert.equal(note('2026-10-25T00:30Z'), 'first_of_two');
  assert.equal(note('2026-10-25T01:30Z'), 'second_of_two');
  assert.equal(note('2026-10-25T02:00Z'), null);
});
