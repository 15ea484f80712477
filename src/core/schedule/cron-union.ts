/** The instants at which at least one of several patterns is due. Instants that several of them name are one tick. */

import { DAY_MS } from './civil.ts';
import { type ClockRule, CronRecurrence } from './cron-recurrence.ts';
import type { Recurrence } from './recurrence.ts';
import type { TimesOfDay } from './time-of-day.ts';
import type { WallPattern } from './wall-pattern.ts';
import { type Stretch, sumOfStretches, type Zone } from './zone.ts';

export interface CronPart {
  pattern: WallPattern;
  rule: ClockRule;
}

export class CronUnion implements Recurrence {
  readonly #patterns: readonly WallPattern[];
  /** Those that follow real time: only they are due at wall times that the clock repeats. */
  readonly #wildcards: readonly WallPattern[];
  readonly #fixed: readonly WallPattern[];
  readonly #recurrences: readonly Recurrence[];
  readonly #zone: Zone;
  /** For each set of patterns, the seconds of a day that at least one of them names. */
  readonly #seconds = new Map<string, Uint32Array>();

  constructor(parts: readonly CronPart[], zone: Zone) {
    this.#patterns = parts.map(({ pattern }) => pattern);
    this.#wildcards = patternsWith(parts, 'wildcard');
    this.#fixed = patternsWith(parts, 'fixed');
    this.#recurrences = parts.map(({ pattern, rule }) => new CronRecurrence(pattern, zone, rule));
    this.#zone = zone;
  }

  next(after: number): number | null {
    const ticks = this.#recurrences.flatMap((recurrence) => recurrence.next(after) ?? []);
    return ticks.length === 0 ? null : Math.min(...ticks);
  }

  previous(before: number): number | null {
    const ticks = this.#recurrences.flatMap((recurrence) => recurrence.previous(before) ?? []);
    return ticks.length === 0 ? null : Math.max(...ticks);
  }

  count(after: number, through: number): number {
    return sumOfStretches(this.#zone, { after, through }, (stretch, from, to) => this.#countIn(stretch, from, to));
  }

  /** The number of ticks in [`from`, `to`), both within the stretch. All wall times skipped before it are one tick at its start. */
  #countIn({ start, offset, reached }: Stretch, from: number, to: number): number {
    const [begin, end] = [from + offset, to + offset];
    const repeatedTo = Math.min(Math.max(begin, reached), end);
    const own =
      this.#countWalls(this.#wildcards, begin, repeatedTo) + this.#countWalls(this.#patterns, repeatedTo, end);
    const skipped = from === start && this.#fixed.some((pattern) => pattern.first(reached, begin) !== null);
    const startIsNamed = this.#patterns.some((pattern) => pattern.first(begin, begin + 1) !== null);
    return skipped && !startIsNamed ? own + 1 : own;
  }

  /** The number of wall times in [`from`, `before`) that at least one pattern names. The cost grows with the days. */
  #countWalls(patterns: readonly WallPattern[], from: number, before: number): number {
    let count = 0;
    for (let wall = from; wall < before; ) {
      const day = Math.floor(wall / DAY_MS);
      const midnight = day * DAY_MS;
      const end = Math.min(before, midnight + DAY_MS);
      const seconds = this.#secondsOn(patterns, day);
      count += rankOf(seconds, (end - midnight) / 1_000) - rankOf(seconds, (wall - midnight) / 1_000);
      wall = end;
    }
    return count;
  }

  #secondsOn(patterns: readonly WallPattern[], day: number): Uint32Array {
    const named = patterns.flatMap((pattern) => {
      const times = pattern.timesOn(day);
      return times === null ? [] : [{ times, place: this.#patterns.indexOf(pattern) }];
    });
    const name = named.map(({ place }) => place).join();
    let seconds = this.#seconds.get(name);
    if (seconds === undefined) {
      seconds = secondsOf(named.map(({ times }) => times));
      this.#seconds.set(name, seconds);
    }
    return seconds;
  }
}

function patternsWith(parts: readonly CronPart[], wanted: ClockRule): WallPattern[] {
  return parts.flatMap(({ pattern, rule }) => (rule === wanted ? [pattern] : []));
}

/** The seconds of a day that are in at least one of the lists, ascending. */
function secondsOf(all: readonly TimesOfDay[]): Uint32Array {
  const seconds = new Set<number>();
  for (const times of all) for (let rank = 0; rank < times.size; rank += 1) seconds.add(times.at(rank));
  return Uint32Array.from(seconds).sort();
}

/** The number of seconds before `second`. */
function rankOf(seconds: Uint32Array, second: number): number {
  let [low, high] = [0, seconds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seconds[middle] as number) < second) low = middle + 1;
    else high = middle;
  }
  return low;
}
