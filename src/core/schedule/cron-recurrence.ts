/** The instants at which a wall pattern is due in a time zone, by the rules for clock changes. */

import { DAY_MS } from './civil.ts';
import type { Recurrence } from './recurrence.ts';
import type { WallPattern } from './wall-pattern.ts';
import { type Stretch, sumOfStretches, type Zone } from './zone.ts';

/**
 * `wildcard` follows real time: due whenever the clock shows a wall time of the pattern. `fixed` is due once per wall
 * time: the first time if the clock repeats it; and if the clock skips some, once for all of them at the first instant
 * after the gap.
 */
export type ClockRule = 'wildcard' | 'fixed';

/** Longer than any calendar rule waits for its next day: the fifth Monday of February comes within 40 years. */
const HORIZON_MS = 100 * 366 * DAY_MS;
/** More than the offset of any zone from UTC, and more than any clock change. */
const FAR_MS = 3 * DAY_MS;
/** About the end of the range of dates, which is as long before the epoch. */
const END_OF_TIME = 8.6e15;

export class CronRecurrence implements Recurrence {
  readonly #pattern: WallPattern;
  readonly #zone: Zone;
  readonly #rule: ClockRule;

  constructor(pattern: WallPattern, zone: Zone, rule: ClockRule) {
    this.#pattern = pattern;
    this.#zone = zone;
    this.#rule = rule;
  }

  next(after: number): number | null {
    const horizon = Math.min(after + HORIZON_MS, END_OF_TIME);
    for (let from = Math.floor(after) + 1; from < horizon; ) {
      const stretch = this.#zone.at(from);
      const end = stretch.end + stretch.offset;
      const due = this.#pattern.first(this.#wallFrom(stretch, from), end);
      if (due !== null) return instantOf(stretch, due);
      // Stretches long before the next wall time contain no tick and are skipped.
      const wall = this.#pattern.first(end - FAR_MS, horizon);
      if (wall === null) return null;
      from = Math.max(stretch.end, wall - FAR_MS);
    }
    return null;
  }

  previous(before: number): number | null {
    const horizon = Math.max(before - HORIZON_MS, -END_OF_TIME);
    for (let to = Math.min(Math.ceil(before), END_OF_TIME); to > horizon; ) {
      const stretch = this.#zone.at(to - 1);
      const due = this.#pattern.last(this.#wallFrom(stretch, stretch.start), to + stretch.offset);
      if (due !== null) return instantOf(stretch, due);
      const wall = this.#pattern.last(horizon, stretch.start + stretch.offset + FAR_MS);
      if (wall === null) return null;
      to = Math.min(stretch.start, wall + FAR_MS);
    }
    return null;
  }

  count(after: number, through: number): number {
    return sumOfStretches(this.#zone, { after, through }, (stretch, from, to) => this.#countIn(stretch, from, to));
  }

  /** The number of ticks in [`from`, `to`), both within the stretch. All wall times skipped before it count as one. */
  #countIn(stretch: Stretch, from: number, to: number): number {
    const begin = from + stretch.offset;
    const wallFrom = this.#wallFrom(stretch, from);
    const own = this.#pattern.count(Math.max(begin, wallFrom), to + stretch.offset);
    if (wallFrom >= begin || this.#pattern.first(wallFrom, begin) === null) return own;
    const startIsNamed = this.#pattern.first(begin, begin + 1) !== null;
    return startIsNamed ? own : own + 1;
  }

  /** The first wall time that is due at `from` or later in its stretch. */
  #wallFrom(stretch: Stretch, from: number): number {
    const begin = from + stretch.offset;
    if (this.#rule === 'wildcard') return begin;
    return from === stretch.start ? stretch.reached : Math.max(begin, stretch.reached);
  }
}

/** Wall times skipped before the stretch are due at its start. */
function instantOf(stretch: Stretch, wall: number): number {
  return Math.max(wall - stretch.offset, stretch.start);
}
