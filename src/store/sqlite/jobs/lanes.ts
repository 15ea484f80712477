/** All lanes, cached: a lane never changes. */

import { type Lane, laneFromKey } from '../../../core/lane.ts';
import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';

export class Lanes {
  readonly #database: Database;
  readonly #ids = new Map<string, number>();
  readonly #lanes = new Map<number, Lane>();
  #hasGangs: boolean | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The lane's id; writes the lane if it is new. */
  idOf(key: string): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const queue = laneFromKey(key).queue;
    const stored = this.#database.get<{ id: number }>(sql.lanesByKey, key);
    const id = stored?.id ?? this.#database.insert(sql.insertLanes, key, queue);
    this.#ids.set(key, id);
    this.#hasGangs = undefined;
    return id;
  }

  /** True if there has been a gang. */
  get hasGangs(): boolean {
    this.#hasGangs ??= this.#database.get(sql.anyGangLane) !== undefined;
    return this.#hasGangs;
  }

  laneOf(id: number): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      const row = this.#database.get<{ key: string }>(sql.laneKey, id);
      if (row === undefined) throw new Error(`lane ${id} is missing`);
      lane = laneFromKey(row.key);
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  /** Lanes written by a transaction that was rolled back do not exist. */
  forget(): void {
    this.#ids.clear();
    this.#lanes.clear();
    this.#hasGangs = undefined;
  }
}
