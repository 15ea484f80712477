/** The database itself. */

export const schemaSql = {
  // SQLite only: in PostgreSQL these are migrate.ts's own, which run before there is a schema.
  tables: `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`,
  /** All columns: a file from before the first release may lack some. */
  installed: 'select * from meta',
  home: 'select home from meta',
  promotionMark: 'select promoted_to as "to", promoted_as as installation from meta where promoted_to is not null',
  setPromotionMark: 'update meta set promoted_to = ?, promoted_as = ?',
  setHome: 'update meta set home = ?',
  setSchemaVersion: 'update meta set schema_version = ?1, min_code = max(min_code, ?2)',
};
