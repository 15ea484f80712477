/** Places of gangs. */

import type { Twins } from '../../statements.ts';

export function gangsSql(s: string) {
  return {
    holdMembers: `update ${s}.live set listed_as = 'blocked', claimed = false, renewed_at = null where job_id = any($1::bigint[])`,
    noteSuccesses: `update ${s}.place p set success = i.success
      from unnest($1::bigint[], $2::jsonb[]) i(job_id, success) where p.job_id = i.job_id`,
    leavePlaces: `delete from ${s}.place where job_id = any($1::bigint[])`,
    /** $1 the gang to look after, $2 the number to look at. `last`: the last of them; null if they were the last of all. */
    pruneGangs: `with looked as materialized (select id from ${s}.gang where id > $1 order by id limit $2),
      gone as (
        delete from ${s}.gang g where g.id = any(array(select id from looked))
          and not exists (select 1 from ${s}.job j where j.id = g.job_id offset 0)
          and not exists (select 1 from ${s}.place p where p.gang_id = g.id) returning 1)
      select (select count(*) from gone) as count, case when count(*) = $2 then max(id) end as last from looked`,

    // PostgreSQL only: there are several writers, and a result is written with the end.
    writeResults: `insert into ${s}.result (job_id, value) select * from unnest($1::bigint[], $2::jsonb[])`,
  } satisfies Twins<'gangs'>;
}
