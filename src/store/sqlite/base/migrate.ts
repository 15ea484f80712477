/** Brings a database file to the schema that this code knows. */

import { readdirSync, readFileSync } from 'node:fs';
import { WorkronError } from '../../../core/error.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

/** What this code is to a schema's `min_code`. */
const CODE = 1;

/** The version that is there, 0 in an empty file. Throws where the file holds something else, or something newer. */
export function installedVersion(database: Database, file: string): number {
  const tables = database.all<{ name: string }>(sql.tables).map((table) => table.name);
  if (tables.length === 0) return 0;
  if (!tables.includes('meta') || !tables.includes('live')) {
    throw new WorkronError(
      'store_unavailable',
      `${file} is a database of another program (it has a table ${tables[0]}); name another file`,
    );
  }
  const meta = database.get<{ schema_version: number; min_code: number }>(sql.schemaVersion);
  if (meta === undefined)
    throw new WorkronError('store_unavailable', `${file} is incomplete; restore it from a backup`);
  if (meta.min_code > CODE) {
    throw new WorkronError('store_unavailable', `${file} was written by a newer Workron; start that version`);
  }
  return meta.schema_version;
}

/** Applies what is missing, each migration in a transaction of its own. */
export function migrate(database: Database, installed: number): void {
  const missing = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql') && Number.parseInt(name, 10) > installed)
    .sort();
  for (const name of missing) {
    database.script('begin immediate');
    try {
      database.script(readFileSync(new URL(name, FOLDER), 'utf8'));
      database.run(sql.setSchemaVersion, Number.parseInt(name, 10));
      database.script('commit');
    } catch (error) {
      if (database.inTransaction) database.script('rollback');
      throw error;
    }
  }
}
