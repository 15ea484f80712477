/**
 * The wall times that an expression names, independent of any zone. A wall time is what the clock shows, as
 * milliseconds as if it were UTC.
 */

import { civilOf, DAY_MS, daysInMonth } from './civil.ts';
import { type DayRule, daysNamed } from './day-rule.ts';
import type { TimesOfDay } from './time-of-day.ts';

export class WallPattern {
  readonly #days: DayRule;
  readonly #times: TimesOfDay;

  constructor(days: DayRule, times: TimesOfDay) {
    this.#days = days;
    this.#times = times;
  }

  /** The first wall time in [`from`, `before`), or `null`. */
  first(from: number, before: number): number | null {
    const start = Math.ceil(from / 1_000) * 1_000;
    const day = Math.floor(start / DAY_MS);
    const rank = this.#times.before((start - day * DAY_MS) / 1_000);
    const found = this.#dayFrom(rank < this.#times.size ? day : day + 1, Math.floor(before / DAY_MS));
    if (found === null) return null;
    const wall = found * DAY_MS + this.#times.at(found === day ? rank : 0) * 1_000;
    return wall < before ? wall : null;
  }

  /** The last wall time in [`from`, `before`), or `null`. */
  last(from: number, before: number): number | null {
    const end = Math.ceil(before / 1_000) * 1_000;
    const day = Math.floor(end / DAY_MS);
    const rank = this.#times.before((end - day * DAY_MS) / 1_000) - 1;
    const found = this.#dayDownFrom(rank >= 0 ? day : day - 1, Math.floor(from / DAY_MS));
    if (found === null) return null;
    const wall = found * DAY_MS + this.#times.at(found === day ? rank : this.#times.size - 1) * 1_000;
    return wall >= from ? wall : null;
  }

  /** The number of wall times in [`from`, `before`). */
  count(from: number, before: number): number {
    if (before <= from) return 0;
    const firstDay = Math.floor(from / DAY_MS);
    const lastDay = Math.floor(before / DAY_MS);
    let days = 0;
    for (let day = firstDay; day < lastDay; ) {
      const { zero, length, named } = this.#monthOf(day);
      const end = Math.min(lastDay, zero + length + 1);
      days += ones(daysBelow(named, end - zero) & ~daysBelow(named, day - zero));
      day = end;
    }
    return days * this.#times.size - this.#before(firstDay, from) + this.#before(lastDay, before);
  }

  /** The times of the day, or `null` if the pattern does not name it. */
  timesOn(day: number): TimesOfDay | null {
    const { zero, named } = this.#monthOf(day);
    return (named & (1 << (day - zero))) === 0 ? null : this.#times;
  }

  /** The number of wall times of `day` before `wall`, which is on that day. */
  #before(day: number, wall: number): number {
    const { zero, named } = this.#monthOf(day);
    if ((named & (1 << (day - zero))) === 0) return 0;
    return this.#times.before(Math.ceil((wall - day * DAY_MS) / 1_000));
  }

  /** The first named day in [`day`, `through`]. */
  #dayFrom(day: number, through: number): number | null {
    for (let from = day; from <= through; ) {
      const { zero, length, named } = this.#monthOf(from);
      const left = named & ~daysBelow(named, from - zero);
      if (left !== 0) {
        const found = zero + lowest(left);
        return found <= through ? found : null;
      }
      from = zero + length + 1;
    }
    return null;
  }

  /** The last named day in [`through`, `day`]. */
  #dayDownFrom(day: number, through: number): number | null {
    for (let from = day; from >= through; ) {
      const { zero, named } = this.#monthOf(from);
      const left = daysBelow(named, from - zero + 1);
      if (left !== 0) {
        const found = zero + highest(left);
        return found >= through ? found : null;
      }
      from = zero;
    }
    return null;
  }

  /** The month of a day: the number of the day before its first, its length, and its named days as bits. */
  #monthOf(number: number): { zero: number; length: number; named: number } {
    const { year, month, day } = civilOf(number);
    return { zero: number - day, length: daysInMonth(year, month), named: daysNamed(this.#days, year, month) };
  }
}

/** The bits below bit `end`, which is 0 to 32. */
function daysBelow(bits: number, end: number): number {
  return end >= 32 ? bits : bits & ((1 << end) - 1);
}

function lowest(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

function highest(bits: number): number {
  return 31 - Math.clz32(bits);
}

function ones(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
