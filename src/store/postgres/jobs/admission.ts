/**
 * What a claim asks of limits and rates: which of the jobs with meters may start, and where the others wait. The jobs are
 * locked first, then their meters by name, and what is in use is counted in a later statement: see 'Lock order' in
 * docs/architecture.md.
 */

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
  UNUSED,
  withStart,
} from '../../../core/meter.ts';
import { lockMeters, readUses } from '../../engine/meter-use.ts';
import { openParkings } from '../../engine/parkings.ts';
import type { Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { CountingSession, Session } from '../base/database.ts';
import { txOn } from '../base/engine.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';
import { compareHeads, type Head } from './head.ts';
import type { KnownLane } from './lanes.ts';

/** The most jobs of a lane with meters that one look of a claim reads. */
export const MAX_DEPTH = MAX_PARKED;
/** The first look reads as many as the claim wants, each further one this many times as many. */
export const DEPTH_GROWTH = 4;

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
  readonly #tx: Tx;
  readonly #open = new Map<number, OpenParking>();
  /** The last job that was read of each lane or parking that may have more. */
  readonly #unread = new Map<number, Head>();
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

  constructor(context: Context, session: CountingSession) {
    this.#sql = context.sql;
    this.#session = session;
    this.#tx = txOn(context, session);
  }

  /** When the first meter that was found to be full opens by itself; `null` for none. */
  get opensAt(): number | null {
    const at = [...this.#parked.map(({ full }) => full), ...this.#closed.values()].flatMap(
      ({ opensAt }) => opensAt ?? [],
    );
    return at.length === 0 ? null : Math.min(...at);
  }

  /** The lane of a job, which may be parked. */
  laneOf(lane: number): number {
    return this.#open.get(-lane)?.lane ?? lane;
  }

  /** Reads and locks up to `depth` jobs of each lane with meters, and of its open parkings. */
  async read(lanes: readonly KnownLane[], { workerId, depth }: { workerId: number; depth: number }): Promise<Head[]> {
    if (lanes.length === 0) return [];
    const ids = await this.#withParkings(lanes, { workerId, parking: 0 });
    const values = [numbers(ids), numbers(ids.map(() => depth)), workerId];
    const heads = await this.#session.query<Head>(this.#sql.meteredHeads, values);
    this.#noteUnread(heads, depth);
    const found = new Set(heads.map(({ lane }) => lane));
    this.#empty = [...this.#open.keys()].filter((id) => !found.has(-id));
    if (heads.length + this.#open.size > 0) {
      await this.#readUses(heads, (windows) => lockMeters(this.#tx, windows));
    } else this.missed = (await this.#session.query(this.#sql.hasHeads, [numbers(ids), workerId])).length > 0;
    return heads;
  }

  /** As `read`, without locks. The given parking is read even if it is closed. */
  async look(
    lanes: readonly KnownLane[],
    { workerId, parking, depth }: { workerId: number; parking: number; depth: number },
  ): Promise<Head[]> {
    if (lanes.length === 0) return [];
    const ids = await this.#withParkings(lanes, { workerId, parking });
    const heads = await this.#session.query<Head>(this.#sql.laneHeads, [numbers(ids), numbers(ids.map(() => depth))]);
    this.#noteUnread(heads, depth);
    await this.#readUses(heads);
    return heads;
  }

  /** Forgets what an earlier plan has decided. */
  begin(): void {
    this.#uses = new Map(this.#read);
    this.#parked = [];
    this.#closed = new Map();
    this.#started = [];
  }

  /** True if a job that was not read may come before this one: `isClosed` says of which lanes none may start. */
  isBeyond(head: Head, isClosed: (lane: number) => boolean): boolean {
    return [...this.#unread].some(
      ([id, last]) => compareHeads(last, head) < 0 && !this.#closed.has(-id) && !isClosed(this.laneOf(id)),
    );
  }

  /** True if a lane or parking has jobs that were not read, and that may start. */
  hasUnread(isClosed: (lane: number) => boolean): boolean {
    return [...this.#unread.keys()].some((id) => !this.#closed.has(-id) && !isClosed(this.laneOf(id)));
  }

  /** True if the job may start. If not, `write` parks it. */
  admits(head: Head): boolean {
    const { meters, skips } = this.#jobs.get(head.job_id) as OfJob;
    if (this.#closed.has(-head.lane)) return false;
    const full = fullMeter(meters, (name) => this.#uses.get(name) ?? UNUSED, this.#now);
    if (full === undefined) return true;
    const isThere = this.#open.get(-head.lane)?.meter === full.meter.name;
    if (isThere) this.#closed.set(-head.lane, full);
    else this.#parked.push({ jobId: head.job_id, lane: this.laneOf(head.lane), full, skips });
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

  /**
   * Records the attempts that have started, also for the rates of their queues. If a job did not start, its worker is draining or its
   * queue is paused since it was read: jobs that were parked because of it do not wait for it.
   */
  async start(jobs: readonly { id: number; queue: string }[], queues: ReadonlyMap<string, Meter>): Promise<void> {
    const missing = this.#started.filter((jobId) => !jobs.some(({ id }) => id === jobId));
    if (missing.length > 0) {
      const unused = missing.flatMap((jobId) => this.#jobs.get(jobId)?.meters ?? []).map(({ name }) => name);
      await openParkings(this.#tx, unused);
    }
    const starts = jobs.flatMap(({ id, queue }) =>
      [...(this.#jobs.get(id)?.meters ?? []), ...(queues.has(queue) ? [queues.get(queue) as Meter] : [])].map(
        ({ name }) => ({ id, name }),
      ),
    );
    if (starts.length === 0) return;
    const names = starts.map(({ name }) => name);
    await this.#session.query(this.#sql.noteStarts, [names, numbers(starts.map(({ id }) => id))]);
    const rates = [...new Set(names.filter((name) => !name.startsWith('limit:')))];
    if (rates.length > 0) await this.#session.query(this.#sql.trimStarts, [rates]);
  }

  /** The numbers of lanes, and of their open parkings, which are negative. */
  async #withParkings(
    lanes: readonly KnownLane[],
    { workerId, parking }: { workerId: number; parking: number },
  ): Promise<number[]> {
    const ids = lanes.map(({ id }) => id);
    const open = await this.#session.query<OpenParking>(this.#sql.openedParkings, [numbers(ids), workerId]);
    if (parking !== 0) open.push(...(await this.#session.query<OpenParking>(this.#sql.parkingById, [parking])));
    for (const each of open) this.#open.set(each.id, each);
    return [...ids, ...[...this.#open.keys()].map((id) => -id)];
  }

  /** Lanes and parkings of which `depth` jobs were read may have more. */
  #noteUnread(heads: readonly Head[], depth: number): void {
    for (const [id, own] of Map.groupBy(heads, ({ lane }) => lane)) {
      if (own.length >= depth)
        this.#unread.set(
          id,
          own.reduce((a, b) => (compareHeads(a, b) < 0 ? b : a)),
        );
    }
  }

  /** Reads the meters of the jobs, and what is in use of them once `lock` is done. */
  async #readUses(
    heads: readonly Head[],
    lock?: (windows: ReadonlyMap<string, number>) => Promise<void>,
  ): Promise<void> {
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
    await lock?.(windows);
    const { useOf, now } = await readUses(this.#tx, [...windows.keys()]);
    for (const name of windows.keys()) this.#read.set(name, useOf(name));
    this.#now = now;
  }

  async #park(): Promise<void> {
    if (this.#parked.length === 0) return;
    const parkingOf = ({ lane, full, skips }: Parked) => ({
      lane,
      meter: full.meter.name,
      rule: ruleOf(full.meter),
      skips: skips && full.meter.windowMs === null,
      opensAt: full.opensAt,
    });
    type Row = { id: number; lane: number; meter: string; rule: string; skips: boolean };
    const keyOf = ({ lane, meter, rule, skips }: Omit<Row, 'id'>) => JSON.stringify([lane, meter, rule, skips]);
    // What the claim starts in between closes a rate for longer: the last one counts.
    const parkings = new Map(this.#parked.map(parkingOf).map((parking) => [keyOf(parking), parking]));
    const wanted = [...parkings.values()];
    const rows = await this.#session.query<Row>(this.#sql.park, [
      numbers(wanted.map(({ lane }) => lane)),
      wanted.map(({ meter }) => meter),
      wanted.map(({ rule }) => rule),
      wanted.map(({ skips }) => skips),
      numbers(wanted.map(({ opensAt }) => opensAt)),
    ]);
    const ids = new Map(rows.map((row) => [keyOf(row), row.id]));
    await this.#session.query(this.#sql.parkJobs, [
      numbers(this.#parked.map(({ jobId }) => jobId)),
      numbers(this.#parked.map((parked) => ids.get(keyOf(parkingOf(parked))) as number)),
    ]);
  }
}
