/** How a tick relates to clock changes, for lists of ticks. */

import type { Stretch, Zone } from './zone.ts';

/**
 * `after_gap`: the clock has just skipped some time. `first_of_two`: this wall time will occur again. `second_of_two`:
 * it has occurred before.
 */
export const CLOCK_NOTES = ['after_gap', 'first_of_two', 'second_of_two'] as const;
export type ClockNote = (typeof CLOCK_NOTES)[number];

export interface WallTime {
  /** The wall time with its offset: `2027-03-14T03:00:00-04:00`. */
  text: string;
  /** 0 is Sunday. */
  weekday: number;
  note: ClockNote | null;
}

export function wallTimeOf(zone: Zone, instant: number): WallTime {
  const stretch = zone.at(instant);
  const wall = new Date(instant + stretch.offset);
  return {
    text: `${wall.toISOString().slice(0, 19)}${offsetText(stretch.offset)}`,
    weekday: wall.getUTCDay(),
    note: noteOf(zone, stretch, instant),
  };
}

function noteOf(zone: Zone, stretch: Stretch, instant: number): ClockNote | null {
  const wall = instant + stretch.offset;
  if (wall < stretch.reached) return 'second_of_two';
  if (instant === stretch.start && stretch.reached < wall) return 'after_gap';
  const next = zone.at(stretch.end);
  return wall >= next.start + next.offset ? 'first_of_two' : null;
}

function offsetText(offset: number): string {
  const seconds = Math.abs(offset) / 1_000;
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (parts[2] === 0) parts.pop();
  return `${offset < 0 ? '-' : '+'}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`;
}
