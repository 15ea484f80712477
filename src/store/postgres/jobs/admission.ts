/**
 * What a claim asks of limits and rates: which of the jobs with meters may start, and where the others wait. The jobs are
 * locked first, then their meters by name, and what is in use is counted in a later statement: see 'Lock order' in
 * docs/architecture.md.
 */

import {
  type FullMeter,
  fullMeter,
  type Limit,
  type Meter,
  type MeterUse,
  metersOf,
  type Rate,
  ruleOf,
  UNUSED,
  withStart,
} from '../../../core/meter.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';
import type { KnownLane } from './lanes.ts';
import { readMeterUses } from './meters.ts';
import type { Head } from './plan-claim.ts';

interface OpenParking {
  id: number;
  lane: number;
  meter: string;
}

interface OfJob {
  meters: Meter[];
  skips: boolean;
}

type Parked = { jobId: number; lane: number; full: FullMeter; skips: boolean };

export class Admission {
  readonly #sql: Sql;
  readonly #session: Session;
  readonly #open = new Map<number, OpenParking>();
  readonly #jobs = new Map<number, OfJob>();
  readonly #read = new Map<string, MeterUse>();
  #uses = new Map<string, MeterUse>();
  #parked: Parked[] = [];
  #closed = new Map<number, FullMeter>();
  #started: number[] = [];
  /** There are jobs with meters, and other claims have locked all of them. */
  missed = false;
  #empty: number[] = [];
  #now = 0;

  constructor({ sql }: Context, session: Session) {
    this.#sql = sql;
    this.#session = session;
  }

  /** True if jobs that stood in the way are out of it: another look may find more. */
  get hasParked(): boolean {
    return this.#parked.length > 0;
  }

  /** When the first meter that was found to be full opens by itself; `null` for none. */
  get opensAt(): number | null {
    const at = [...this.#parked.map(({ full }) => full), ...this.#closed.values()].flatMap(
      ({ opensAt }) => opensAt ?? [],
    );
    return at.length === 0 ? null : Math.min(...at);
  }

  /** The lane of a job, which may be parked. */
  homeOf(lane: number): number {
    return this.#open.get(-lane)?.lane ?? lane;
  }

  /** Reads and locks up to `depth` jobs of each lane with meters, and of its open parkings. */
  async read(lanes: readonly KnownLane[], { workerId, depth }: { workerId: number; depth: number }): Promise<Head[]> {
    const ids = lanes.filter(({ lane }) => lane.metered).map(({ id }) => id);
    if (ids.length === 0) return [];
    const open = await this.#session.query<OpenParking>(this.#sql.openedParkings, [numbers(ids), workerId]);
    for (const parking of open) this.#open.set(parking.id, parking);
    const places = [...ids, ...open.map(({ id }) => -id)];
    const values = [numbers(places), numbers(places.map(() => depth)), workerId];
    const heads = await this.#session.query<Head>(this.#sql.meteredHeads, values);
    const found = new Set(heads.map(({ lane }) => lane));
    this.#empty = open.filter(({ id }) => !found.has(-id)).map(({ id }) => id);
    if (heads.length + open.length > 0) await this.#lock(heads);
    else this.missed = (await this.#session.query(this.#sql.hasHeads, [numbers(places), workerId])).length > 0;
    return heads;
  }

  /** Forgets what an earlier plan has decided. */
  begin(): void {
    this.#uses = new Map(this.#read);
    this.#parked = [];
    this.#closed = new Map();
    this.#started = [];
  }

  /** True if the job may start. If not, `write` parks it. */
  admits(head: Head): boolean {
    const { meters, skips } = this.#jobs.get(head.job_id) as OfJob;
    if (this.#closed.has(-head.lane)) return false;
    const full = fullMeter(meters, (name) => this.#uses.get(name) ?? UNUSED, this.#now);
    if (full === undefined) return true;
    const isThere = this.#open.get(-head.lane)?.meter === full.meter.name;
    if (isThere) this.#closed.set(-head.lane, full);
    else this.#parked.push({ jobId: head.job_id, lane: this.homeOf(head.lane), full, skips });
    return false;
  }

  /** The job starts, and counts from now on. */
  take(jobId: number): void {
    for (const meter of this.#jobs.get(jobId)?.meters ?? []) {
      this.#uses.set(meter.name, withStart(this.#uses.get(meter.name) ?? UNUSED, meter, this.#now));
    }
    this.#started.push(jobId);
  }

  /** Moves jobs: those that start to their lanes, those that wait to parkings. */
  async write(): Promise<void> {
    if (this.#started.length > 0 && this.#open.size > 0) {
      await this.#session.query(this.#sql.unparkJobs, [numbers(this.#started)]);
    }
    await this.#park();
    if (this.#closed.size > 0) {
      const opensAt = [...this.#closed.values()].map((full) => full.opensAt);
      await this.#session.query(this.#sql.closeParkings, [numbers([...this.#closed.keys()]), numbers(opensAt)]);
    }
    if (this.#empty.length > 0) await this.#session.query(this.#sql.dropParkings, [numbers(this.#empty)]);
  }

  /** Records the attempts that have started, also for the rates of their queues. */
  async start(jobs: readonly { id: number; queue: string }[], queues: ReadonlyMap<string, Meter>): Promise<void> {
    const slots = jobs.flatMap(({ id, queue }) =>
      [...(this.#jobs.get(id)?.meters ?? []), ...(queues.has(queue) ? [queues.get(queue) as Meter] : [])].map(
        ({ name }) => ({ id, name }),
      ),
    );
    if (slots.length === 0) return;
    const names = slots.map(({ name }) => name);
    await this.#session.query(this.#sql.startSlots, [names, numbers(slots.map(({ id }) => id))]);
    const rates = [...new Set(names.filter((name) => !name.startsWith('limit:')))];
    if (rates.length > 0) await this.#session.query(this.#sql.trimSlots, [rates]);
  }

  async #lock(heads: readonly Head[]): Promise<void> {
    type Row = { id: number; limits: Limit[] | null; rates: Rate[] | null; on_limit: string | null };
    const rows = await this.#session.query<Row>(this.#sql.metersOfJobs, [numbers(heads.map(({ job_id }) => job_id))]);
    for (const { id, limits, rates, on_limit } of rows) {
      this.#jobs.set(id, {
        meters: metersOf({ limits: limits ?? [], rates: rates ?? [] }),
        skips: on_limit === 'skip',
      });
    }
    const windows = new Map<string, number>();
    for (const id of this.#empty) windows.set(this.#open.get(id)?.meter as string, 0);
    for (const { meters } of this.#jobs.values()) {
      for (const { name, windowMs } of meters) windows.set(name, Math.max(windows.get(name) ?? 0, windowMs ?? 0));
    }
    const names = [...windows.keys()].sort(byBytes);
    await this.#session.query(this.#sql.noteWindows, [
      names,
      numbers(names.map((name) => windows.get(name) as number)),
    ]);
    const { uses, now } = await readMeterUses(this.#sql, this.#session, names);
    names.forEach((name, place) => this.#read.set(name, uses[place] as MeterUse));
    this.#now = now;
  }

  async #park(): Promise<void> {
    if (this.#parked.length === 0) return;
    const placeOf = ({ lane, full, skips }: Parked) => ({
      lane,
      meter: full.meter.name,
      rule: ruleOf(full.meter),
      skips: skips && full.meter.windowMs === null,
      opensAt: full.opensAt,
    });
    const places = new Map(this.#parked.map((parked) => [JSON.stringify(placeOf(parked)), placeOf(parked)]));
    const wanted = [...places.values()];
    type Row = { id: number; lane: number; meter: string; rule: string; skips: boolean };
    const rows = await this.#session.query<Row>(this.#sql.park, [
      numbers(wanted.map(({ lane }) => lane)),
      wanted.map(({ meter }) => meter),
      wanted.map(({ rule }) => rule),
      wanted.map(({ skips }) => skips),
      numbers(wanted.map(({ opensAt }) => opensAt)),
    ]);
    const keyOf = ({ lane, meter, rule, skips }: Omit<Row, 'id'>) => JSON.stringify([lane, meter, rule, skips]);
    const ids = new Map(rows.map((row) => [keyOf(row), row.id]));
    await this.#session.query(this.#sql.parkJobs, [
      numbers(this.#parked.map(({ jobId }) => jobId)),
      numbers(this.#parked.map((parked) => ids.get(keyOf(placeOf(parked))) as number)),
    ]);
  }
}

/** The order of `collate "C"`. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
