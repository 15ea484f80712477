import type pg from 'pg';

/** The sequences of a schema, each with the table whose ids it gives. */
export async function sequencesOf(
  client: pg.Client,
  schema: string,
): Promise<{ name: string; table: string; given: number }[]> {
  const { rows } = await client.query<{ name: string; table: string | null; given: number | null }>(
    `select s.relname as name, t.relname as "table", pg_sequence_last_value(s.oid) as given from pg_class s
       left join pg_depend d on d.objid = s.oid and d.classid = 'pg_class'::regclass and d.deptype = 'i'
       left join pg_class t on t.oid = d.refobjid
     where s.relnamespace = to_regnamespace($1) and s.relkind = 'S'`,
    [`"${schema}"`],
  );
  return rows.map(({ name, table, given }) => ({ name, table: table ?? name.replace(/_id$/, ''), given: given ?? 0 }));
}
