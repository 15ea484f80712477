/** Compares the tables of both stores: numbers of rows, and sums over the content of all rows. */

import type pg from 'pg';
import type { Database } from '../../store/sqlite/base/database.ts';
import { comparing } from './convert.ts';
import { Sum, type TableSum } from './sum.ts';
import { type Column, type MovedTable, rowsOf } from './tables.ts';

const AT_ONCE = 5_000;
const SEPARATOR = '\x01';

/** Adds up rows of a table; `differenceMs` is added to instants of a clock. */
export function summing(
  { columns }: MovedTable,
  differenceMs: number,
): { add: (row: readonly unknown[]) => void; sum: Sum } {
  const sum = new Sum();
  const compare = columns.map((column) => comparing(column, differenceMs));
  return {
    sum,
    add(row) {
      let text = '';
      for (const [place, value] of row.entries()) text += `${compare[place]?.(value)}${SEPARATOR}`;
      sum.add(text);
    },
  };
}

export function sumOfSource(database: Database, table: MovedTable, differenceMs: number): TableSum {
  const { sum, add } = summing(table, differenceMs);
  for (const row of rowsOf(database, table)) add(row);
  return sum.result;
}

export async function sumOfTarget(client: pg.Client, schema: string, table: MovedTable): Promise<TableSum> {
  const { sum, add } = summing(table, 0);
  const columns = table.columns.map(readOf).join(', ');
  await client.query('begin read only');
  try {
    await client.query(`declare moved no scroll cursor for select ${columns} from "${schema}"."${table.name}"`);
    for (;;) {
      const { rows } = await client.query<unknown[]>({ text: `fetch ${AT_ONCE} from moved`, rowMode: 'array' });
      if (rows.length === 0) return sum.result;
      for (const row of rows) add(row);
    }
  } finally {
    await client.query('rollback');
  }
}

/** What PostgreSQL reads, so that it is as SQLite has it: cheaper than converting each value here. */
function readOf({ name, type }: Column): string {
  if (type === 'timestamp with time zone') return `date_part('epoch', "${name}") * 1000`;
  if (type === 'jsonb') return `"${name}"::text`;
  return type.endsWith('[]') ? `array_to_json("${name}")::text` : `"${name}"`;
}
