/** Fills every table of a schema with rows that mean nothing, so that PostgreSQL has statistics of large tables. */

import type { PostgresTestStore } from './postgres.ts';

interface Column {
  table_name: string;
  column_name: string;
  data_type: string;
  udt_name: string;
}

/** Values of row n where those by type would repeat a key, be refused, or leave an index empty that is not. */
const BY_NAME: Record<string, string> = {
  listed_as: `(array['pending', 'running', 'scheduled'])[1 + n % 3]`,
  claimed: 'n % 3 = 1',
  status: `(array['done', 'done', 'done', 'failed'])[1 + n % 4]`,
  state: `(array['open', 'held'])[1 + n % 2]`,
  condition: `'success'`,
  hold: `(array['active', 'time'])[1 + n % 2]`,
  meter: `'limit:' || n % 100`,
  lane: 'n % 5',
  parent_id: 'n - n % 2',
  workflow_id: 'n - n % 10',
  'metered_start.name': `'limit:' || n % 100`,
  'audit.part_of': 'n - n % 10',
  'gang.stops': '0',
  stops: 'null',
  fair_key: 'null',
  line: 'null',
  needs_items: 'false',
  rank: '0',
  turn: '0',
};

/** `rows` in each table, but three in those of `small`. Their jobs are the last ones, as in a table that jobs come to and go from. */
export async function fillTables(
  { schema, query }: Pick<PostgresTestStore, 'schema' | 'query'>,
  { rows, small }: { rows: number; small: ReadonlySet<string> },
): Promise<void> {
  const columns = await query<Column>(
    `select c.table_name, c.column_name, c.data_type, c.udt_name from information_schema.columns c
      join pg_tables t on t.schemaname = c.table_schema and t.tablename = c.table_name
      where c.table_schema = $1 and c.table_name <> 'meta' and c.is_identity = 'NO' order by c.ordinal_position`,
    [schema],
  );
  for (const [table, those] of Object.entries(Object.groupBy(columns, ({ table_name }) => table_name))) {
    const list = those ?? [];
    const names = list.map(({ column_name }) => `"${column_name}"`).join(', ');
    const values = list.map((column) => valueOf(column)).join(', ');
    const first = small.has(table) ? rows - 2 : 1;
    await query(
      `insert into "${schema}"."${table}" (${names}) select ${values} from generate_series(${first}, ${rows}) n`,
    );
    await query(`analyze "${schema}"."${table}"`);
  }
}

function valueOf({ table_name, column_name, data_type, udt_name }: Column): string {
  const known = BY_NAME[`${table_name}.${column_name}`] ?? BY_NAME[column_name];
  if (known !== undefined) return known;
  if (data_type.startsWith('timestamp')) return `now() - n * interval '1 second'`;
  if (data_type === 'ARRAY') return `array[n]::${udt_name}`;
  if (data_type === 'text') return `'text ' || n`;
  if (data_type === 'jsonb') return `'{}'`;
  if (data_type === 'boolean') return 'false';
  if (data_type === 'bytea') return `'x'`;
  return 'n';
}
