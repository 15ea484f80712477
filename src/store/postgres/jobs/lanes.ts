/** This process's cache of lanes, and of the queues that have a limit or take turns. */

import { type Lane, laneFromKey, type Offer, serves } from '../../../core/lane.ts';
import type { Database } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import type { FairQueues } from './turns.ts';

/** Lanes that other processes have created are seen after this time at the latest. */
const FRESH_MS = 250;

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
  readonly #ids = new Map<string, number>();
  readonly #lanes = new Map<number, Lane>();
  #hasGangs = false;
  #last = 0;
  #refreshedAt = Number.NEGATIVE_INFINITY;
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
    const missing = [...new Set(keys)].filter((key) => !this.#ids.has(key)).sort();
    if (missing.length > 0) await this.#make(missing, signal);
    return keys.map((key) => this.#ids.get(key) as number);
  }

  /** The lane's id, if this process knows it. */
  idOf(key: string): number | undefined {
    return this.#ids.get(key);
  }

  /** The lane, if this process knows it. */
  lane(id: number): Lane | undefined {
    return this.#lanes.get(id);
  }

  servedBy(offer: Offer): KnownLane[] {
    return [...this.#lanes].filter(([, lane]) => serves(offer, lane)).map(([id, lane]) => ({ id, lane }));
  }

  /** True if there has been a gang. */
  get hasGangs(): boolean {
    return this.#hasGangs;
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
    const rows = await this.#database.query<LanesRow>(this.#sql.lanesAfter, [this.#last], signal);
    const later = rows.filter((row) => row.what === 'lane');
    const namesOf = (kind: 'limited' | 'paused' | 'fair') =>
      rows.filter(({ what }) => what === kind).map(({ name }) => name);
    this.#fairQueues.learn(namesOf('fair'));
    const names = new Set(namesOf('limited'));
    const isNew = later.some(({ id }) => !this.#lanes.has(id)) || !sameNames(names, this.#limited);
    for (const { id, name } of later) this.#know(id, name);
    this.#last = Math.max(this.#last, later.at(-1)?.id ?? 0);
    this.#limited = names;
    this.#paused = new Set(namesOf('paused'));
    this.#refreshedAt = startedAt;
    return isNew;
  }

  async #make(keys: string[], signal: AbortSignal): Promise<void> {
    const { lanesByKey, lockLanes, insertLanes } = this.#sql;
    let found = await this.#database.query<{ id: number; key: string }>(lanesByKey, [keys], signal);
    if (found.length < keys.length) {
      const queues = keys.map((key) => laneFromKey(key).queue);
      found = await this.#database.transaction(signal, async (session) => {
        await session.query(lockLanes);
        await session.query(insertLanes, [keys, queues]);
        return await session.query(lanesByKey, [keys]);
      });
    }
    for (const { id, key } of found) this.#know(id, key);
  }

  #know(id: number, key: string): void {
    this.#ids.set(key, id);
    const lane = laneFromKey(key);
    this.#lanes.set(id, lane);
    this.#hasGangs ||= lane.gang;
  }
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
