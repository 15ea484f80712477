/** The examples of docs/schedules.md are what the source does. */

/// <reference lib="esnext.temporal" />

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { wallTimeOf } from '../../src/core/schedule/clock-note.ts';
import { parseCron } from '../../src/core/schedule/cron.ts';
import { ON_TIME_MS } from '../../src/core/schedule/plan-ticks.ts';
import { oldestTicks } from '../../src/core/schedule/recurrence.ts';
import { zoneOf } from '../../src/core/schedule/zone.ts';

const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'schedules.md'), 'utf8');
const rows = [...text.matchAll(/^\| `([^`]+)` \| (\w+\/\w+) \| (\d{4}-\d\d-\d\d) \| ([^|]+) \| ([^|]+) \|$/gm)];

test('docs: the table of clock changes is there, and the grace is the one of the source', () => {
  assert.ok(rows.length >= 15, `${rows.length} rows`);
  assert.ok(text.includes(`**${ON_TIME_MS / 1_000} seconds**`));
});

for (const [, expression = '', timezone = '', day = '', , ticks = ''] of rows) {
  test(`docs: ${expression} on ${day} in ${timezone} has ticks at ${ticks}`, () => {
    const date = Temporal.PlainDate.from(day);
    const start = date.toZonedDateTime(timezone).epochMilliseconds;
    const end = date.add({ days: 1 }).toZonedDateTime(timezone).epochMilliseconds;
    const found = oldestTicks(parseCron(expression, timezone), start - 1, end - 1, 100);
    const shown = found.map((tick) =>
      wallTimeOf(zoneOf(timezone), tick)
        .text.slice(11)
        .replace(/^(\d\d:\d\d):00/, '$1'),
    );
    assert.deepEqual(shown, ticks.trim().split(', '));
  });
}
