/** This process's cache of lanes, and of the queues that have a limit or take turns. */

import { LANE_KNOWN_MS, type Lane, laneFromKey, type Offer, serves } from '../../../core/lane.ts';
import { monotonicMs } from '../../../ops/monotonic.ts';
import type { Database } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import type { FairQueues } from './turns.ts';

/** Lanes that other processes have created are seen after this time at the latest. */
const FRESH_MS = 250;
/** Lanes that were deleted are forgotten after this time at the latest. */
const RELOAD_MS = 600_000;
/** How often the exact time is read, which takes longer than to look a lane up. */
const CHECK_MS = 1_000;

/** The jobs of this lane and of later ones are in the index live_crowd. */
const FIRST_LATE_LANE = 64;
/** Fewer lanes are looked at one by one. */
const MIN_CROWD = 16;

export interface KnownLane {
  id: number;
  lane: Lane;
}

/** A lane's name is its key. */
type LanesRow =
  | { what: 'lane'; id: number; name: string }
  | { what: 'limited' | 'paused' | 'fair'; id: null; name: string };

export class Lanes {
  readonly #database: Database;
  readonly #sql: Sql;
  /** The lanes that jobs may be inserted into, for at most LANE_KNOWN_MS from `#idsSince` on. */
  readonly #ids = new Map<string, number>();
  #idsSince = monotonicMs();
  /** By the wall clock, which also advances while the machine is suspended. */
  #checkedAt = 0;
  /** All lanes, for claims. */
  readonly #lanes = new Map<number, Lane>();
  /** False if the last look at the places of gangs found no member that waits in one. */
  hasPlaces = false;
  #last = 0;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #reloadedAt = Number.NEGATIVE_INFINITY;
  #limited = new Set<string>();
  #paused = new Set<string>();
  readonly #fairQueues: FairQueues;

  constructor(database: Database, sql: Sql, fairQueues: FairQueues) {
    this.#fairQueues = fairQueues;
    this.#database = database;
    this.#sql = sql;
  }

  /** Returns the lanes' ids in order; creates lanes that do not exist. */
  async idsOf(keys: readonly string[], signal: AbortSignal): Promise<number[]> {
    const known = keys.map(this.#idFinder());
    const missing = [...new Set(keys.filter((_, place) => known[place] === undefined))].sort();
    const made = missing.length === 0 ? undefined : await this.#make(missing, signal);
    return keys.map((key, place) => known[place] ?? (made?.get(key) as number));
  }

  /** The ids of lanes that this process has looked up of late; `undefined` if one is not known. */
  knownIds(keys: readonly string[]): number[] | undefined {
    const ids = keys.map(this.#idFinder());
    return ids.every((id) => id !== undefined) ? ids : undefined;
  }

  /** After LANE_KNOWN_MS a lane may have been deleted: all are looked up again. */
  #idFinder(): (key: string) => number | undefined {
    const now = Date.now();
    if (Math.abs(now - this.#checkedAt) >= CHECK_MS) {
      this.#checkedAt = now;
      const sinceMs = monotonicMs() - this.#idsSince;
      if (sinceMs >= LANE_KNOWN_MS) {
        this.#ids.clear();
        this.#idsSince += sinceMs;
      }
    }
    return (key) => this.#ids.get(key);
  }

  /** The lane, if this process knows it. */
  lane(id: number): Lane | undefined {
    return this.#lanes.get(id);
  }

  servedBy(offer: Offer): KnownLane[] {
    return [...this.#lanes].filter(([, lane]) => serves(offer, lane)).map(([id, lane]) => ({ id, lane }));
  }

  /** All lanes that this process knows. */
  all(): KnownLane[] {
    return [...this.#lanes].map(([id, lane]) => ({ id, lane }));
  }

  /** All lanes up to this one are known. */
  get last(): number {
    return this.#last;
  }

  /**
   * Splits lanes of which a claim takes the most urgent jobs: those that it looks at one by one, and a crowd, whose jobs it finds in
   * one order. There is no crowd if others than these lanes are among its jobs, as a claim would have to read past theirs.
   */
  split(served: readonly KnownLane[]): { single: readonly KnownLane[]; crowd: boolean } {
    const late = this.#last < FIRST_LATE_LANE ? 0 : served.filter(({ id }) => this.#isLate(id)).length;
    if (late < MIN_CROWD || late < this.#countLate() || this.#isLatePaused()) return { single: served, crowd: false };
    return { single: served.filter(({ id }) => !this.#isLate(id)), crowd: true };
  }

  #countLate(): number {
    return [...this.#lanes.keys()].filter((id) => this.#isLate(id)).length;
  }

  #isLatePaused(): boolean {
    return this.#paused.size > 0 && this.all().some(({ id, lane }) => this.#isLate(id) && this.#paused.has(lane.queue));
  }

  /** True if its jobs are in the index across lanes, and no lane up to it is unknown. */
  #isLate(id: number): boolean {
    return id >= FIRST_LATE_LANE && id <= this.#last;
  }

  isLimited(queue: string): boolean {
    return this.#limited.has(queue);
  }

  get anyLimited(): boolean {
    return this.#limited.size > 0;
  }

  get isFresh(): boolean {
    return performance.now() - this.#refreshedAt < FRESH_MS;
  }

  /** Reads new lanes and the queues' properties. Returns true if anything has changed. */
  async refresh(signal: AbortSignal): Promise<boolean> {
    const startedAt = performance.now();
    const reloads = startedAt - this.#reloadedAt >= RELOAD_MS;
    const before = reloads ? [...this.#lanes.keys()] : [];
    const after = reloads ? 0 : this.#last;
    const rows = await this.#database.query<LanesRow>(this.#sql.lanesAfter, [after], signal);
    const later = rows.filter((row) => row.what === 'lane');
    const namesOf = (kind: 'limited' | 'paused' | 'fair') =>
      rows.filter(({ what }) => what === kind).map(({ name }) => name);
    this.#fairQueues.learn(namesOf('fair'));
    const names = new Set(namesOf('limited'));
    const isNew = later.some(({ id }) => !this.#lanes.has(id)) || !sameNames(names, this.#limited);
    for (const { id, name } of later) this.learn(id, name);
    if (reloads) {
      const stored = new Set(later.map(({ id }) => id));
      for (const id of before) if (!stored.has(id)) this.#lanes.delete(id);
      this.#reloadedAt = startedAt;
    }
    this.#last = Math.max(this.#last, later.at(-1)?.id ?? 0);
    this.#limited = names;
    this.#paused = new Set(namesOf('paused'));
    this.#refreshedAt = startedAt;
    return isNew;
  }

  /** These lanes were deleted. Other processes notice it later. */
  forget(ids: readonly number[]): void {
    this.#ids.clear();
    for (const id of ids) this.#lanes.delete(id);
  }

  /** Keeps a lane that was read elsewhere, for claims, and returns it. */
  learn(id: number, key: string): Lane {
    const lane = this.#lanes.get(id) ?? laneFromKey(key);
    this.#lanes.set(id, lane);
    return lane;
  }

  /** Looks lanes up, and makes those that are missing. Whoever marks lanes, or deletes marked ones, waits for the lock. */
  async #make(keys: string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const { lanesByKey, lockLanes, unmarkLanes, insertLanes } = this.#sql;
    type Row = { id: number; key: string; marked: boolean };
    let found = await this.#database.query<Row>(lanesByKey, [keys], signal);
    if (found.length < keys.length || found.some(({ marked }) => marked)) {
      const made = keys.map(laneFromKey);
      const columns = [keys, made.map(({ queue }) => queue), made.map(({ gang }) => gang)];
      found = await this.#database.transaction(signal, async (session) => {
        await session.query(lockLanes);
        await session.query(insertLanes, columns);
        const rows = await session.query<Row>(lanesByKey, [keys]);
        if (rows.some(({ marked }) => marked)) await session.query(unmarkLanes, [keys]);
        return rows;
      });
    }
    for (const { id, key } of found) {
      this.learn(id, key);
      this.#ids.set(key, id);
    }
    return new Map(found.map(({ id, key }) => [key, id]));
  }
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
