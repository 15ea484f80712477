/** Number and content of rows, for comparing two stores. */

import { hash } from 'node:crypto';

export interface TableSum {
  rows: number;
  /** The same for the same rows in any order. */
  checksum: string;
}

const LOW_BITS = 0x1_0000_0000;

/** Adds up the first 64 bits of each row's MD5, in two halves: numbers are faster than bigints. */
export class Sum {
  #rows = 0;
  #high = 0;
  #low = 0;

  /** `row`: its values as one text. */
  add(row: string): void {
    const digest = hash('md5', row, 'buffer');
    this.#rows += 1;
    this.#low += digest.readUInt32LE(0);
    this.#high = (this.#high + digest.readUInt32LE(4) + Math.floor(this.#low / LOW_BITS)) % LOW_BITS;
    this.#low %= LOW_BITS;
  }

  get result(): TableSum {
    const [high, low] = [this.#high, this.#low].map((half) => half.toString(16).padStart(8, '0'));
    return { rows: this.#rows, checksum: `${high}${low}` };
  }
}
