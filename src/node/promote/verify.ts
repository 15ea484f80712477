/** Compares the tables of both stores: numbers of rows, and sums over the content of all rows. */

import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../store/sqlite/base/database.ts';
import { comparable } from './convert.ts';
import { type MovedTable, rowsOf } from './tables.ts';

const AT_ONCE = 5_000;

export interface TableSum {
  rows: number;
  /** The same for the same rows in any order. */
  checksum: string;
}

class Sum {
  #rows = 0;
  #sum = 0n;

  add(values: readonly string[]): void {
    const digest = createHash('md5').update(values.join('\x01')).digest();
    this.#rows += 1;
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64LE());
  }

  get result(): TableSum {
    return { rows: this.#rows, checksum: this.#sum.toString(16).padStart(16, '0') };
  }
}

export function sumOfSource(database: Database, table: MovedTable, differenceMs: number): TableSum {
  const sum = new Sum();
  for (const row of rowsOf(database, table)) {
    sum.add(table.columns.map((column, place) => comparable(row[`c${place}`], column, { differenceMs })));
  }
  return sum.result;
}

export async function sumOfTarget(client: pg.Client, schema: string, table: MovedTable): Promise<TableSum> {
  const sum = new Sum();
  const columns = table.columns.map(({ name }) => `"${name}"`).join(', ');
  await client.query('begin read only');
  try {
    await client.query(`declare moved no scroll cursor for select ${columns} from "${schema}"."${table.name}"`);
    for (;;) {
      const { rows } = await client.query<unknown[]>({ text: `fetch ${AT_ONCE} from moved`, rowMode: 'array' });
      if (rows.length === 0) return sum.result;
      for (const row of rows) sum.add(table.columns.map((column, place) => comparable(row[place], column, null)));
    }
  } finally {
    await client.query('rollback');
  }
}
