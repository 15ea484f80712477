/** Time zones by IANA name, as stretches of time with one UTC offset each. */

import { WorkronError } from '../error.ts';
import { nearestWord } from '../suggest.ts';
import { civilOf, DAY_MS, dayNumber } from './civil.ts';

/** Wall time = instant + `offset`, for instants in [`start`, `end`). Neighbours may have the same offset. */
export interface Stretch {
  start: number;
  end: number;
  offset: number;
  /**
   * The latest wall time shown before `start`. If it is above `start + offset`, the stretch begins by repeating wall
   * times; if below, those between were skipped.
   */
  reached: number;
}

/** The sampling interval. No zone has two changes within a week (checked since 1970), so this finds every change. */
const SAMPLE_MS = DAY_MS;
/** No clock change is longer than a day, so earlier stretches cannot be part of a repetition. */
const OVERLAP_MS = 3 * DAY_MS;
const MAX_YEARS_KEPT = 256;

const zones = new Map<string, Zone>();

/** Returns the zone of this name. Throws `schedule_invalid` if there is none. */
export function zoneOf(name: string): Zone {
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known !== undefined) return known;
  const zone = new Zone(name);
  zones.set(key, zone);
  return zone;
}

export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #years = new Map<number, Stretch[]>();

  constructor(name: string) {
    this.name = name;
    this.#format = formatOf(name);
  }

  /** The stretch that contains the instant. */
  at(instant: number): Stretch {
    const stretches = this.#stretchesOf(civilOf(Math.floor(instant / DAY_MS)).year);
    let index = stretches.length - 1;
    while (index > 0 && (stretches[index] as Stretch).start > instant) index -= 1;
    return stretches[index] as Stretch;
  }

  #stretchesOf(year: number): Stretch[] {
    const kept = this.#years.get(year);
    if (kept !== undefined) return kept;
    if (this.#years.size >= MAX_YEARS_KEPT) this.#years.clear();
    const stretches = this.#sample(dayNumber(year, 1, 1) * DAY_MS, dayNumber(year + 1, 1, 1) * DAY_MS);
    this.#years.set(year, stretches);
    return stretches;
  }

  /** Finds the stretches of [`from`, `to`) by sampling the offset daily and bisecting around each change. */
  #sample(from: number, to: number): Stretch[] {
    const stretches: Stretch[] = [];
    let start = from - OVERLAP_MS;
    let offset = this.#offsetAt(start);
    let reached = start + offset;
    const close = (end: number): void => {
      if (start >= from) stretches.push({ start, end, offset, reached });
      else if (end > from) stretches.push({ start: from, end, offset, reached: Math.max(reached, from + offset) });
      reached = Math.max(reached, end + offset);
      start = end;
    };
    for (let seen = start; seen < to; seen += SAMPLE_MS) {
      const next = this.#offsetAt(seen + SAMPLE_MS);
      if (next === offset) continue;
      const change = this.#changeBetween(seen, seen + SAMPLE_MS, offset);
      if (change >= to) break;
      close(change);
      offset = next;
    }
    close(to);
    return stretches;
  }

  /** The first second in (`from`, `to`] whose offset differs from that of `from`. */
  #changeBetween(from: number, to: number, offset: number): number {
    let before = from / 1_000;
    let after = to / 1_000;
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.#offsetAt(middle * 1_000) === offset) before = middle;
      else after = middle;
    }
    return after * 1_000;
  }

  #offsetAt(instant: number): number {
    const [, sign, hours = '0', minutes = '0', seconds = '0'] =
      /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(this.#format.format(instant)) ?? [];
    const size = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000;
    return sign === '-' ? -size : size;
  }
}

/** A format of which only the offset is used: `12/31/1969, GMT-00:44:30`. */
function formatOf(name: string): Intl.DateTimeFormat {
  try {
    // Intl accepts offsets such as +02:00 as zones, but users would expect them to follow daylight saving time.
    if (/^[A-Za-z]/.test(name)) return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const near = nearestWord(name, Intl.supportedValuesOf('timeZone'));
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const got = JSON.stringify(name.slice(0, 64));
  throw new WorkronError(
    'schedule_invalid',
    `timezone: expected an IANA name such as Europe/Berlin, got ${got}${hint}`,
  );
}

/** Adds up a count of instants in (`after`, `through`], taken stretch by stretch: `countIn` is about [`from`, `to`) of one. */
export function sumOfStretches(
  zone: Zone,
  { after, through }: { after: number; through: number },
  countIn: (stretch: Stretch, from: number, to: number) => number,
): number {
  let count = 0;
  const end = Math.floor(through) + 1;
  for (let from = Math.floor(after) + 1; from < end; ) {
    const stretch = zone.at(from);
    const to = Math.min(stretch.end, end);
    count += countIn(stretch, from, to);
    from = to;
  }
  return count;
}
