/** What a claim asks of limits and rates: which of the jobs with meters may start, and where the others wait. */

import {
  type FullMeter,
  fullMeter,
  type Limit,
  MAX_PARKED,
  type Meter,
  type MeterUse,
  metersOf,
  type Rate,
  ruleOf,
  withStart,
} from '../../../core/meter.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { NEVER_OPENS } from '../sql/meters.ts';
import { readPieces } from './lane-cursor.ts';
import type { LaneHead } from './lane-heads.ts';
import { meterUse } from './meters.ts';

interface OfJob {
  meters: Meter[];
  skips: boolean;
}

export class Admission {
  readonly #context: Context;
  readonly #looking: { parking: number } | undefined;
  readonly #uses = new Map<string, MeterUse>();
  readonly #started = new Map<number, Meter[]>();
  /** The job that was read last: one that is admitted is taken next. */
  #last: (OfJob & { jobId: number }) | undefined;
  #parked = 0;

  /** `looking`: nothing is written, and this parking is looked at even if it is closed. */
  constructor(context: Context, looking?: { parking: number }) {
    this.#context = context;
    this.#looking = looking;
  }

  /** True once the claim has parked its maximum: the next one continues. */
  get isOver(): boolean {
    return this.#parked >= MAX_PARKED;
  }

  /** The first jobs of the parkings that claims look at, as those of lanes. */
  heads(): LaneHead[] {
    const { database, lanes, now } = this.#context;
    const open = database.tuples<[id: number, lane: number, meter: string]>(sql.openedParkings, now);
    if (this.#looking !== undefined && !open.some(([id]) => id === this.#looking?.parking)) {
      open.push(...database.tuples<[number, number, string]>(sql.parkingById, this.#looking.parking));
    }
    if (open.length === 0) return [];
    const pieces = readPieces(
      database,
      open.map(([id]) => ({ id: -id })),
      1,
    );
    return open.flatMap(([id, laneId, meter]) => {
      const [order] = pieces(-id).piece;
      if (order === undefined && this.#looking === undefined) database.run(sql.dropParkings, id);
      return order === undefined ? [] : [{ id: -id, lane: lanes.laneOf(laneId), order, laneId, meter }];
    });
  }

  /**
   * Tells whether the job may start. If not, it waits in a parking from now on. If it is there already, the parking is closed,
   * and none of its other jobs may start either.
   */
  admits(jobId: number, head: LaneHead): 'start' | 'parked' | 'closed' {
    const { now } = this.#context;
    const { meters, skips } = this.#metersOf(jobId);
    const full = fullMeter(meters, (name) => this.#useOf(name), now);
    return full === undefined ? 'start' : this.#park(jobId, head, { full, skips });
  }

  /** The job starts, and counts from now on. */
  take(jobId: number): void {
    const { meters } = this.#metersOf(jobId);
    for (const meter of meters) {
      this.#uses.set(meter.name, withStart(this.#useOf(meter.name), meter, this.#context.now));
    }
    this.#started.set(jobId, meters);
  }

  /** Writes what started. The attempts of the jobs are counted already. */
  write(): void {
    if (this.#started.size === 0) return;
    const { database, now } = this.#context;
    database.run(sql.unparkJobs, JSON.stringify([...this.#started.keys()]));
    for (const [jobId, meters] of this.#started) {
      for (const { name, windowMs } of meters) {
        database.run(sql.noteStarts, name, now, jobId);
        if (windowMs === null) continue;
        database.run(sql.noteWindows, name, windowMs);
        database.run(sql.trimStarts, name, now);
      }
    }
  }

  #park(
    jobId: number,
    head: LaneHead,
    { full: { meter, opensAt }, skips }: { full: FullMeter; skips: boolean },
  ): 'parked' | 'closed' {
    const { database, effects } = this.#context;
    if (this.#looking !== undefined) return this.#pass(head, meter);
    const lane = head.laneId ?? head.id;
    const isSkipped = skips && meter.windowMs === null;
    const values = [lane, meter.name, ruleOf(meter), isSkipped ? 1 : 0, opensAt ?? NEVER_OPENS];
    const [row] = database.tuples<[number]>(sql.park, ...values);
    const [id] = row as [number];
    if (opensAt !== null) effects.willBeDue(opensAt);
    if (id === -head.id) return 'closed';
    database.run(sql.parkJobs, jobId, id);
    this.#parked += 1;
    // Waiting claims look again.
    if (this.isOver) effects.madeRoom();
    return 'parked';
  }

  /** As `#park`, without writing. */
  #pass(head: LaneHead, { name }: Meter): 'parked' | 'closed' {
    if (head.meter === name) return 'closed';
    this.#parked += 1;
    return 'parked';
  }

  #useOf(name: string): MeterUse {
    let use = this.#uses.get(name);
    if (use === undefined) {
      [use] = meterUse(this.#context, [name]) as [MeterUse];
      this.#uses.set(name, use);
    }
    return use;
  }

  #metersOf(jobId: number): OfJob {
    if (this.#last?.jobId !== jobId) this.#last = { jobId, ...this.#readMeters(jobId) };
    return this.#last;
  }

  #readMeters(jobId: number): OfJob {
    type Row = { limits: string | null; rates: string | null; on_limit: string | null };
    const row = this.#context.database.get<Row>(sql.metersOfJobs, JSON.stringify([jobId]));
    const limits = JSON.parse(row?.limits ?? '[]') as Limit[];
    const rates = JSON.parse(row?.rates ?? '[]') as Rate[];
    return { meters: metersOf({ limits, rates }), skips: row?.on_limit === 'skip' };
  }
}
