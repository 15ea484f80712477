/** Reads an export from a SQLite file, also while Workron runs on it: all tables are read in one transaction. */

import { Database } from '../../store/sqlite/base/database.ts';
import { homeOf } from '../../store/sqlite/base/home.ts';
import { installedVersion } from '../../store/sqlite/base/migrate.ts';
import { sqliteColumns } from '../promote/tables.ts';
import type { ExportSource, SourceTable, Value } from './format.ts';
import { exportedTables } from './tables.ts';

export async function withSqliteSource<T>(file: string, body: (source: ExportSource) => Promise<T>): Promise<T> {
  const home = homeOf(file);
  using database = new Database(home, { readOnly: true });
  database.script('begin');
  const schemaVersion = installedVersion(database, home);
  return await body(sourceOf(database, schemaVersion));
}

export function sourceOf(database: Database, schemaVersion: number): ExportSource {
  const ids = database.all<{ name: string; seq: number }>('select name, seq from sqlite_sequence order by name');
  return {
    schemaVersion,
    installation: installationOf(database),
    ids: Object.fromEntries(ids.map(({ name, seq }) => [name, seq])),
    tables: exportedTables(sqliteColumns(database)),
    rows: (table) => rows(database, table),
  };
}

/** A random number by which two installations are told apart. */
export function installationOf(database: Database): number {
  return database.get<{ lock_space: number }>('select lock_space from meta')?.lock_space ?? 0;
}

function rows(database: Database, { name, columns }: SourceTable): Iterable<Value[]> {
  return database.eachTuple(`select ${columns.map((column) => `"${column}"`).join(', ')} from "${name}"`);
}
