/** The claimable jobs of one lane, most urgent first, read in pieces as they are taken. */

import type { Lane } from '../../../core/lane.ts';
import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';

export type ClaimOrder = readonly [rank: number, turn: number, due: number, jobId: number];

interface LaneCursorOptions {
  id: number;
  lane: Lane;
  /** The maximum number of jobs to be taken. */
  limit: number;
  /** True if no other lane competes: then all are read at once. */
  alone: boolean;
}

const FIRST_PIECE = 4;
const GROWTH = 4;

export class LaneCursor {
  readonly lane: Lane;
  readonly #database: Database;
  readonly #id: number;
  readonly #limit: number;
  #pieceSize: number;
  #piece: ClaimOrder[];
  #next = 0;

  constructor(database: Database, { id, lane, limit, alone }: LaneCursorOptions) {
    this.lane = lane;
    this.#database = database;
    this.#id = id;
    this.#limit = limit;
    this.#pieceSize = alone ? limit : Math.min(FIRST_PIECE, limit);
    this.#piece = database.tuples<ClaimOrder>(sql.laneHeads, id, this.#pieceSize);
  }

  /** The most urgent job that is not yet taken; `undefined` if none is left. */
  get head(): ClaimOrder | undefined {
    return this.#piece[this.#next];
  }

  /** Takes the head, which must exist. */
  take(): number {
    const taken = this.#piece[this.#next] as ClaimOrder;
    this.#next += 1;
    if (this.#next === this.#piece.length && this.#piece.length === this.#pieceSize) this.#readOn(taken);
    const [, , , jobId] = taken;
    return jobId;
  }

  #readOn(last: ClaimOrder): void {
    if (this.#pieceSize >= this.#limit && this.#next >= this.#limit) return;
    this.#pieceSize = Math.min(this.#pieceSize * GROWTH, this.#limit);
    this.#piece = this.#database.tuples<ClaimOrder>(sql.laneAfter, this.#id, this.#pieceSize, ...last);
    this.#next = 0;
  }
}

export function isAhead(a: ClaimOrder, b: ClaimOrder): boolean {
  for (let index = 0; index < 4; index += 1) {
    const [left, right] = [a[index] as number, b[index] as number];
    if (left !== right) return left < right;
  }
  return false;
}
