/**
 * Claimable jobs that a claim has found to wait for a meter. They lie beside the lanes, so that claims do not read past them
 * until the meter may let one start.
 */

import { laneFromKey } from '../../../core/lane.ts';
import { type FullMeter, type Meter, ruleOf } from '../../../core/meter.ts';
import { Heap } from '../../heap.ts';
import type { Entry } from '../base/entry.ts';
import { isAhead, type LaneLine } from '../base/live.ts';

/** The jobs of one lane that wait for the same meter with the same rule. */
export interface Parking extends LaneLine {
  meter: string;
  /** Its jobs end as skipped. */
  skips: boolean;
  /** Claims look at it from then on: -Infinity for now, Infinity until a running job ends. */
  opensAt: number;
}

export class Parkings {
  readonly #all = new Map<string, Parking>();

  /** The parking for a job that `full` keeps from starting, closed for as long as it does. */
  closed(entry: Entry, { meter, opensAt }: FullMeter): { key: string; parking: Parking } {
    const skips = isSkipped(entry, meter);
    const key = JSON.stringify([entry.lane, meter.name, ruleOf(meter), skips]);
    let parking = this.#all.get(key);
    if (parking === undefined) {
      const line = new Heap<Entry>(isAhead);
      parking = { lane: laneFromKey(entry.lane), line, meter: meter.name, skips, opensAt: Infinity };
      this.#all.set(key, parking);
    }
    parking.opensAt = opensAt ?? Infinity;
    return { key, parking };
  }

  add(entry: Entry, key: string): void {
    this.#all.get(key)?.line.add(entry);
  }

  delete(entry: Entry, key: string): void {
    const parking = this.#all.get(key);
    if (parking?.line.delete(entry) && parking.line.size === 0) this.#all.delete(key);
  }

  all(): Iterable<Parking> {
    return this.#all.values();
  }

  /** Those that claims look at. */
  open(now: number): Parking[] {
    return [...this.#all.values()].filter(({ opensAt, skips }) => opensAt <= now && !skips);
  }

  /** Claims look at the jobs that wait for this meter. */
  reopen(meter: string): void {
    for (const parking of this.#all.values()) if (parking.meter === meter) parking.opensAt = -Infinity;
  }
}

/** True if the job ends instead of waiting for this meter. */
function isSkipped({ spec: { onLimit } }: Entry, { windowMs }: Meter): boolean {
  return onLimit === 'skip' && windowMs === null;
}
