/** All lanes, cached: a lane never changes. */

import { type Lane, laneFromKey } from '../../../core/lane.ts';
import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';

export class Lanes {
  readonly #database: Database;
  readonly #ids = new Map<string, number>();
  readonly #lanes = new Map<number, Lane>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** The lane's id; writes the lane if it is new. */
  idOf(key: string): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const { queue, gang } = laneFromKey(key);
    const stored = this.#database.get<{ id: number; marked: number }>(sql.lanesByKey, key);
    if (stored?.marked) this.#database.run(sql.unmarkLanes, stored.id);
    const id = stored?.id ?? this.#database.insert(sql.insertLanes, key, queue, gang ? 1 : 0);
    this.#ids.set(key, id);
    return id;
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

  /** Lanes written by a transaction that was rolled back do not exist, and marked ones are looked up again before they are used. */
  forget(): void {
    this.#ids.clear();
    this.#lanes.clear();
  }
}
