/** Reads an export from PostgreSQL, also while Workron runs on it: all tables are read in one snapshot. */

import type pg from 'pg';
import { WorkronError } from '../../core/error.ts';
import { Database } from '../../store/sqlite/base/database.ts';
import { migrate } from '../../store/sqlite/base/migrate.ts';
import { MIGRATIONS } from '../../store/sqlite/base/migrations.ts';
import { withClient } from '../promote/client.ts';
import { sequencesOf } from '../promote/sequences.ts';
import { postgresColumns, sqliteColumns } from '../promote/tables.ts';
import type { ExportSource, SourceTable, Value } from './format.ts';
import { exportedTables, readAs } from './tables.ts';

const ROWS_AT_ONCE = 1_000;
/** Rows with bytes hold up to a megabyte each. */
const LARGE_ROWS_AT_ONCE = 20;

type Types = ReadonlyMap<string, string>;

export async function withPostgresSource<T>(
  { url, schema }: { url: string; schema: string },
  body: (source: ExportSource) => Promise<T>,
): Promise<T> {
  return await withClient(url, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const { schemaVersion, installation } = await metaOf(client, schema);
    const types = await postgresColumns(client, schema);
    const ids = await sequencesOf(client, schema);
    return await body({
      schemaVersion,
      installation,
      ids: Object.fromEntries(ids.filter(({ given }) => given > 0).map(({ table, given }) => [table, given])),
      tables: exportedTables(sqliteSchema()),
      rows: (table) => rows(client, schema, { table, types: types.get(table.name) ?? new Map<string, string>() }),
    });
  });
}

async function metaOf(client: pg.Client, schema: string): Promise<{ schemaVersion: number; installation: number }> {
  const { rows: found } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
    `"${schema}".meta`,
  ]);
  if (found[0]?.there !== true) {
    throw new WorkronError('bad_request', `There is no installation in schema ${schema} of this database`);
  }
  const { rows: meta } = await client.query<{ version: number; lock_space: number }>(
    `select schema_version as version, lock_space from "${schema}".meta`,
  );
  const [{ version, lock_space: installation } = { version: 0, lock_space: 0 }] = meta;
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  if (version !== newest) {
    throw new WorkronError(
      'store_unavailable',
      `Schema ${schema} is at version ${version}, this code has ${newest}; run \`workron migrate\``,
    );
  }
  return { schemaVersion: version, installation };
}

/** The columns of the SQLite schema, which an export has. */
function sqliteSchema(): Map<string, string[]> {
  using database = new Database(':memory:', { readOnly: false });
  migrate(database, 0);
  return sqliteColumns(database);
}

interface TypedTable {
  table: SourceTable;
  /** The types of PostgreSQL's columns. */
  types: Types;
}

async function* rows(client: pg.Client, schema: string, { table, types }: TypedTable): AsyncGenerator<Value[]> {
  const { name, columns } = table;
  const read = columns.map((column) => readAs(name, column, schema) ?? plain(name, column, types));
  await client.query(`declare exported no scroll cursor for select ${read.join(', ')} from "${schema}"."${name}" t`);
  const count = [...types.values()].includes('bytea') ? LARGE_ROWS_AT_ONCE : ROWS_AT_ONCE;
  for (;;) {
    const { rows } = await client.query<unknown[]>({ text: `fetch ${count} from exported`, rowMode: 'array' });
    if (rows.length === 0) break;
    for (const row of rows) yield row.map((value, place) => stored(value, types.get(columns[place] ?? '')));
  }
  await client.query('close exported');
}

function plain(table: string, column: string, types: Types): string {
  const type = types.get(column);
  if (type === undefined) throw new Error(`PostgreSQL has no column for ${table}.${column}`);
  return type === 'jsonb' ? `t."${column}"::text` : `t."${column}"`;
}

/** A value as SQLite stores it. */
function stored(value: unknown, type: string | undefined): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (Array.isArray(value)) return JSON.stringify(value);
  // Compact, as SQLite has it.
  if (type === 'jsonb' && typeof value === 'string') return JSON.stringify(JSON.parse(value));
  return value as Value;
}
