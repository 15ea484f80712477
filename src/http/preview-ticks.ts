import { toInstant } from '../api/fields.ts';
import type { SchedulePreview } from '../api/schedule-preview.ts';
import { type ClockNote, type WallTime, wallTimeOf } from '../core/schedule/clock-note.ts';
import { oldestTicks, type Recurrence } from '../core/schedule/recurrence.ts';
import { zoneOf } from '../core/schedule/zone.ts';

const NOTES: Readonly<Record<ClockNote, string>> = {
  after_gap: 'the clock has just gone forward',
  first_of_two: 'the clock shows this twice: the first time',
  second_of_two: 'the clock shows this twice: the second time',
};

/** The first `count` ticks from an instant on, as the clock of the zone shows them, with a word where it was changed. */
export function previewTicks(
  recurrence: Recurrence,
  { timezone, from, count }: { timezone: string; from: number; count: number },
): SchedulePreview['items'] {
  const zone = zoneOf(timezone);
  let before = wallTimeOf(zone, from);
  return oldestTicks(recurrence, from - 1, Number.POSITIVE_INFINITY, count).map((tick) => {
    const wall = wallTimeOf(zone, tick);
    const note = wall.note === null ? changeSince(before, wall) : NOTES[wall.note];
    before = wall;
    return { utc: toInstant(tick), local: wall.text, note };
  });
}

function changeSince(before: WallTime, now: WallTime): string | null {
  const [offset, previous] = [now.text.slice(19), before.text.slice(19)];
  return offset === previous ? null : `the clock has changed from ${previous} to ${offset}`;
}
