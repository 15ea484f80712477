/** Brings a database file to the version that this code needs. */

import { WorkronError } from '../../../core/error.ts';
import { OLDEST_SHARED_CODE, requireCode } from '../../code.ts';
import { type Migration, requireFoundation } from '../../migration.ts';
import type { Database } from './database.ts';
import { MIGRATIONS } from './migrations.ts';
import { sql } from './sql.ts';

/** Returns the schema's version, 0 for an empty file. Throws if the file is not Workron's or needs newer code. */
export function installedVersion(database: Database, file: string): number {
  const tables = database.all<{ name: string }>(sql.tables).map((table) => table.name);
  if (tables.length === 0) return 0;
  if (!tables.includes('meta') || !tables.includes('live')) {
    throw new WorkronError(
      'store_unavailable',
      `${file} is a database of another program (it has a table ${tables[0]}); name another file`,
    );
  }
  const meta = database.get<{ schema_version: number; min_code: number; foundation?: string | null }>(sql.installed);
  if (meta === undefined)
    throw new WorkronError('store_unavailable', `${file} is incomplete; restore it from a backup`);
  requireCode(meta.min_code, file);
  if (meta.schema_version > 0) requireFoundation(MIGRATIONS, meta.foundation, file);
  return meta.schema_version;
}

/** Applies the migrations that are missing, each in its own transaction. */
export function migrate(database: Database, installed: number, migrations: readonly Migration[] = MIGRATIONS): void {
  for (const { version, script } of migrations.filter(({ version }) => version > installed)) {
    database.script('begin immediate');
    try {
      database.script(script);
      database.run(sql.setSchemaVersion, version, OLDEST_SHARED_CODE);
      database.script('commit');
    } catch (error) {
      if (database.inTransaction) database.script('rollback');
      throw error;
    }
  }
}
