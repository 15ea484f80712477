/** The database itself. */

export function schemaSql(s: string) {
  return {
    // PostgreSQL only: the time is the server's.
    now: `select ${s}.now() as now`,
    /** `folds`: there is a collation that folds the case of all letters, whatever the database's own does. */
    meta: `select lock_space, exists (
        select 1 from pg_collation where collname = 'und-x-icu' and collnamespace = 'pg_catalog'::regnamespace
          and collencoding in (-1, pg_char_to_encoding(getdatabaseencoding()))) as folds
      from ${s}.meta`,
  };
}
