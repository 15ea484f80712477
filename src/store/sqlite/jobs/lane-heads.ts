/**
 * The first job of every lane, kept between claims: a claim reads only the lanes that it takes jobs from. A head is never later
 * than the lane's first job, but it may be earlier: jobs leave a lane without notice. So a lane is read before its jobs are taken.
 */

import type { Lane } from '../../../core/lane.ts';
import { Heap } from '../../heap.ts';
import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';
import { type ClaimOrder, isAhead } from './lane-cursor.ts';
import type { Lanes } from './lanes.ts';

export interface LaneHead {
  id: number;
  lane: Lane;
  order: ClaimOrder;
  /** For a parking, whose id is negative: the lane of its jobs. */
  laneId?: number;
  /** For a parking: what its jobs wait for. */
  meter?: string;
}

type HeadRow = readonly [lane: number, ...order: ClaimOrder];

/** All heads are read again after this time, so that a change that was not announced delays a job at most this long. */
const MAX_AGE_MS = 1_000;

export class LaneHeads {
  readonly #database: Database;
  readonly #lanes: Lanes;
  readonly #heads = new Map<number, LaneHead>();
  readonly #changed = new Set<number>();
  #heap = new Heap<LaneHead>(isFirst);
  #readAt: number | null = null;

  constructor(database: Database, lanes: Lanes) {
    this.#database = database;
    this.#lanes = lanes;
  }

  get size(): number {
    return this.#heap.size;
  }

  /** Prepares for a claim. */
  refresh(now: number): void {
    if (this.#readAt === null || Math.abs(now - this.#readAt) > MAX_AGE_MS) this.#readAll(now);
    for (const id of this.#changed) this.#read(id);
    this.#changed.clear();
  }

  peek(): LaneHead | undefined {
    return this.#heap.peek();
  }

  /** The head leaves the heap, to come back by `put`. */
  take(head: LaneHead): void {
    this.#heap.delete(head);
  }

  /** `order`: the lane's first job; `undefined` if it has none. */
  put(head: LaneHead, order: ClaimOrder | undefined): void {
    if (order === undefined) {
      this.#heads.delete(head.id);
      return;
    }
    head.order = order;
    this.#heap.add(head);
  }

  /** Records that a job of this lane may have become claimable, or more urgent. */
  change(id: number): void {
    this.#changed.add(id);
  }

  /** Any lane may have changed, or what changed was rolled back. */
  forget(): void {
    this.#readAt = null;
  }

  #readAll(now: number): void {
    this.#heap = new Heap(isFirst);
    this.#heads.clear();
    this.#changed.clear();
    for (const [id, ...order] of this.#database.tuples<HeadRow>(sql.allHeads)) this.#add(id, order);
    this.#readAt = now;
  }

  #read(id: number): void {
    const known = this.#heads.get(id);
    if (known !== undefined) this.#heap.delete(known);
    this.#heads.delete(id);
    const [order] = this.#database.tuples<ClaimOrder>(sql.laneHeads, id, 1);
    if (order !== undefined) this.#add(id, order);
  }

  #add(id: number, order: ClaimOrder): void {
    const head = { id, lane: this.#lanes.laneOf(id), order };
    this.#heads.set(id, head);
    this.#heap.add(head);
  }
}

function isFirst(a: LaneHead, b: LaneHead): boolean {
  return isAhead(a.order, b.order);
}
