/** Places of gangs. */

import type { Twins } from '../../statements.ts';

export function gangsSql(s: string) {
  return {
    holdMembers: `update ${s}.live set listed_as = 'blocked', claimed = false, renewed_at = null where job_id = any($1::bigint[])`,
    noteSuccesses: `update ${s}.place p set success = i.success
      from unnest($1::bigint[], $2::jsonb[]) i(job_id, success) where p.job_id = i.job_id`,
    leavePlaces: `delete from ${s}.place where job_id = any($1::bigint[])`,

    // PostgreSQL only: there are several writers, and a result is written with the end.
    writeResults: `insert into ${s}.result (job_id, value) select * from unnest($1::bigint[], $2::jsonb[])`,
  } satisfies Twins<'gangs'>;
}
