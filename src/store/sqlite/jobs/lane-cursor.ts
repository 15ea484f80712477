/** The claimable jobs of one lane, most urgent first, read in pieces as they are taken. */

import type { Database } from '../base/database.ts';
import { sql } from '../base/sql.ts';

export type ClaimOrder = readonly [rank: number, turn: number, due: number, jobId: number];

interface LaneCursorOptions {
  id: number;
  /** The maximum number of jobs to be taken. */
  limit: number;
  /** More than `limit` may be taken, as not all of them are claimed; then `limit` is the size of the largest piece. */
  endless: boolean;
  /** Its first jobs: all of them if they are fewer than `pieceSize`. */
  piece: ClaimOrder[];
  pieceSize: number;
}

/** Few, as other lanes compete. */
export const FIRST_PIECE = 2;
const GROWTH = 4;

type PieceRow = readonly [lane: number, ...order: ClaimOrder];

/** Reads the first jobs of some lanes. */
export function readPieces(
  database: Database,
  lanes: readonly { id: number }[],
  pieceSize: number,
): (id: number) => Pick<LaneCursorOptions, 'piece' | 'pieceSize'> {
  const pieces = new Map<number, ClaimOrder[]>(lanes.map(({ id }) => [id, []]));
  const ids = JSON.stringify([...pieces.keys()]);
  for (const [id, ...order] of database.tuples<PieceRow>(sql.lanePieces, ids, pieceSize)) pieces.get(id)?.push(order);
  return (id) => ({ piece: pieces.get(id) as ClaimOrder[], pieceSize });
}

export class LaneCursor {
  readonly #database: Database;
  readonly #id: number;
  readonly #limit: number;
  readonly #endless: boolean;
  #pieceSize: number;
  #piece: ClaimOrder[];
  #next = 0;

  constructor(database: Database, { id, limit, endless, piece, pieceSize }: LaneCursorOptions) {
    this.#database = database;
    this.#id = id;
    this.#limit = limit;
    this.#endless = endless;
    this.#pieceSize = pieceSize;
    this.#piece = piece;
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
    if (!this.#endless && this.#pieceSize >= this.#limit && this.#next >= this.#limit) return;
    this.#pieceSize = Math.min(this.#pieceSize * GROWTH, this.#limit);
    this.#piece = this.#database.tuples<ClaimOrder>(sql.laneAfter, this.#id, this.#pieceSize, ...last);
    this.#next = 0;
  }
}

export function isAhead(a: ClaimOrder, b: ClaimOrder): boolean {
  if (a[0] !== b[0]) return a[0] < b[0];
  if (a[1] !== b[1]) return a[1] < b[1];
  return a[2] === b[2] ? a[3] < b[3] : a[2] < b[2];
}
