/** The database itself. */

export const schemaSql = {
  // SQLite only: in PostgreSQL these are migrate.ts's own, which run before there is a schema.
  tables: `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`,
  schemaVersion: 'select schema_version, min_code from meta',
  home: 'select home from meta',
  setHome: 'update meta set home = ?',
  setSchemaVersion: 'update meta set schema_version = ?1, min_code = max(min_code, ?2)',
};
