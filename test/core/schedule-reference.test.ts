/** Cron against brute force: random expressions around clock changes of many zones and years. */

/// <reference lib="esnext.temporal" />

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isWorkronError } from '../../src/core/error.ts';
import { parseCron } from '../../src/core/schedule/cron.ts';
import { newestTicks, oldestTicks } from '../../src/core/schedule/recurrence.ts';
import { zoneOf } from '../../src/core/schedule/zone.ts';
import { effort } from '../effort.ts';
import { namesDate, referenceTicks, type Span } from '../kit/cron-reference.ts';

const DAY = 86_400_000;

/** A zone each for every odd way in which clocks have been moved. */
const ZONES = [
  'America/New_York',
  'Europe/Berlin',
  'Europe/London',
  'Europe/Dublin',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'America/Havana',
  'America/Asuncion',
  'America/Santiago',
  'America/St_Johns',
  'America/Caracas',
  'America/Godthab',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'Antarctica/Casey',
  'Asia/Amman',
  'Asia/Beirut',
  'Asia/Gaza',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Pyongyang',
  'Asia/Tehran',
  'Europe/Moscow',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kwajalein',
  'UTC',
];

function changesOf(timezone: string, fromYear: number, toYear: number): Temporal.ZonedDateTime[] {
  const changes: Temporal.ZonedDateTime[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.ZonedDateTime.from(`${fromYear}-01-01T00:00[${timezone}]`);
  while (at !== null && at.year <= toYear) {
    const next: Temporal.ZonedDateTime | null = at.getTimeZoneTransition('next');
    if (next !== null && next.year <= toYear) changes.push(next);
    at = next;
  }
  return changes;
}

function field(least: number, most: number, words: readonly string[] = []): fc.Arbitrary<string> {
  const value = fc.integer({ min: least, max: most });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: most - least + 1 });
  const item = fc.oneof(
    value.map(String),
    range,
    fc.tuple(range, step).map(([text, by]) => `${text}/${by}`),
    fc.tuple(value, step).map(([from, by]) => `${from}/${by}`),
    ...(words.length > 0 ? [fc.constantFrom(...words)] : []),
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(',')) },
    { weight: 1, arbitrary: fc.constant('*') },
    { weight: 1, arbitrary: step.map((by) => `*/${by}`) },
  );
}

// A step of one leaves the day open in the source; the rules word that case as `*` itself.
const open = (text: string): string => (text === '*/1' ? '*' : text);
const days = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 1, arbitrary: field(1, 31, ['L', 'LW', '1W', '15W', '31W']).map(open) },
);
const months = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 1, arbitrary: field(1, 12, ['MAR', 'OCT', 'NOV']) },
);
const weekdays = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 1, arbitrary: field(0, 6, ['SUN', 'FRI', 'FRIL', '7', '0L', 'SUN#1', 'MON#2', '3#5', 'SUN#4']).map(open) },
);
// Clocks are moved at night, so that is where most hours should lie.
const hours = fc.oneof(field(0, 23), fc.constantFrom('0', '1', '2', '3', '0-3', '1,2', '23', '*'));

const span: fc.Arbitrary<Span> = fc
  .record({ timezone: fc.constantFrom(...ZONES), pick: fc.nat(), shift: fc.integer({ min: -DAY, max: DAY }) })
  .map(({ timezone, pick, shift }) => {
    const changes = changesOf(timezone, 1990, 2040);
    const middle =
      changes[pick % Math.max(1, changes.length)]?.epochMilliseconds ?? Date.UTC(1990, 0, 1) + pick * 1_000;
    return { timezone, after: middle + shift - 2 * DAY, through: middle + shift + 2 * DAY };
  });

function compare(expression: string, where: Span): void {
  const { timezone, after, through } = where;
  let recurrence: ReturnType<typeof parseCron>;
  try {
    recurrence = parseCron(expression, timezone);
  } catch (error) {
    assert.ok(isWorkronError(error, 'schedule_invalid') && error.message.includes('never fires'), String(error));
    assert.deepEqual(referenceTicks(expression, where), []);
    return;
  }
  const shown = (ticks: number[]) => ticks.map((tick) => new Date(tick).toISOString());
  const expected = shown(referenceTicks(expression, where));
  assert.deepEqual(shown(oldestTicks(recurrence, after, through, Infinity)), expected, 'next');
  assert.deepEqual(shown(newestTicks(recurrence, after, through, Infinity)), expected, 'previous');
  assert.equal(recurrence.count(after, through), expected.length, 'count');
}

test('cron: around clock changes, next, previous and count agree with a look at every minute', () => {
  const expression = fc.tuple(field(0, 59), hours, days, months, weekdays).map((fields) => fields.join(' '));
  fc.assert(fc.property(expression, span, compare), { numRuns: effort.cronExpressions });
});

test('cron: several expressions are due at the ticks of each, and an instant that two name is one tick', () => {
  const expression = fc.tuple(field(0, 59), hours, days, months, weekdays).map((fields) => fields.join(' '));
  const expressions = fc.array(expression, { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(expressions, span, (parts, where) => {
      const { timezone, after, through } = where;
      const firing = parts.filter((part) => !isWorkronError(errorOf(() => parseCron(part, timezone))));
      fc.pre(firing.length > 0);
      const union = parseCron(firing.join('; '), timezone);
      const expected = [...new Set(firing.flatMap((part) => referenceTicks(part, where)))].sort((a, b) => a - b);
      assert.deepEqual(oldestTicks(union, after, through, Infinity), expected, 'next');
      assert.deepEqual(newestTicks(union, after, through, Infinity), expected, 'previous');
      assert.equal(union.count(after, through), expected.length, 'count');
    }),
    { numRuns: Math.ceil(effort.cronExpressions / 2) },
  );
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

test('cron: every fixed and wildcard shape is right at each of the odd clock changes', () => {
  const shapes = [
    '0,30 2 * * *',
    '30 0-3 * * *',
    '15 0 * * *',
    '0 12 * * *',
    '*/20 * * * *',
    '5 * * * *',
    '*/15 1,2 * * *',
    '59 23 L * *',
  ];
  const places: [string, string][] = [
    ['America/New_York', '2027-03-14'],
    ['America/New_York', '2027-11-07'],
    ['Europe/Berlin', '2026-03-29'],
    ['Europe/Berlin', '2026-10-25'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Australia/Lord_Howe', '2026-10-04'],
    ['America/Sao_Paulo', '2017-10-15'],
    ['America/Sao_Paulo', '2018-02-18'],
    ['Africa/Cairo', '2026-04-24'],
    ['Africa/Cairo', '2026-10-30'],
    ['Asia/Beirut', '2026-03-29'],
    ['Asia/Beirut', '2026-10-25'],
    ['Antarctica/Troll', '2026-03-29'],
    ['Antarctica/Troll', '2026-10-25'],
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Kwajalein', '1993-08-21'],
    ['Asia/Pyongyang', '2015-08-15'],
    ['Asia/Pyongyang', '2018-05-05'],
    ['America/Caracas', '2007-12-09'],
    ['Asia/Kathmandu', '1986-01-01'],
  ];
  for (const [timezone, day] of places) {
    const middle = Date.parse(`${day}T00:00Z`);
    for (const shape of shapes) compare(shape, { timezone, after: middle - 1.5 * DAY, through: middle + 1.5 * DAY });
  }
});

test('cron: the calendar rules agree with a look at every day of many years', () => {
  const expression = fc.tuple(days, months, weekdays).map((fields) => `0 0 ${fields.join(' ')}`);
  const firstDay = fc.integer({ min: -3_000, max: 60_000 });
  fc.assert(
    fc.property(expression, firstDay, (expression, first) => {
      const expected: number[] = [];
      const epoch = Temporal.PlainDate.from('1970-01-01');
      for (let day = first; day < first + 1_000; day += 1) {
        if (namesDate(expression.split(' '), epoch.add({ days: day }))) expected.push(day * DAY);
      }
      let found: number[] = [];
      try {
        found = oldestTicks(parseCron(expression, 'UTC'), first * DAY - 1, (first + 1_000) * DAY - 1, Infinity);
      } catch (error) {
        assert.ok(isWorkronError(error, 'schedule_invalid'), String(error));
      }
      assert.deepEqual(found, expected);
    }),
    { numRuns: Math.ceil(effort.cronExpressions / 4) },
  );
});

test('zone: offsets change exactly when Temporal says so', () => {
  const zones = effort.full ? Intl.supportedValuesOf('timeZone') : ZONES.slice(0, 10);
  for (const timezone of zones) {
    for (const change of changesOf(timezone, 1972, 2040)) {
      for (const at of [change.epochMilliseconds - 1_000, change.epochMilliseconds]) {
        const offset = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).offsetNanoseconds / 1e6;
        assert.equal(zoneOf(timezone).at(at).offset, offset, `${timezone} ${new Date(at).toISOString()}`);
      }
    }
  }
});
