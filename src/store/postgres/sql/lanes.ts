/** Lanes, by which jobs are claimed. */

import type { Twins } from '../../statements.ts';

export function lanesSql(s: string) {
  return {
    lanesByKey: `select id, key from ${s}.lane where key = any($1::text[])`,
    insertLanes: `insert into ${s}.lane (key, queue)
      select * from unnest($1::text[], $2::text[]) i(key, queue)
      where not exists (select 1 from ${s}.lane n where n.key = i.key)`,

    // PostgreSQL only: several processes make lanes, and each keeps a copy of them.
    /** New lanes in the order of their ids, and all queues that have a limit, are paused or take turns. */
    lanesAfter: `select 'lane' as what, id, key as name from ${s}.lane where id > $1
      union all select 'limited', null, name from ${s}.queue where max_running is not null or rate is not null
      union all select 'paused', null, name from ${s}.queue where paused_at is not null
      union all select 'fair', null, name from ${s}.fair_queue
      order by id`,
    /** Lanes are created one at a time, so that ids become visible in order and a read of later ids misses none. */
    lockLanes: `lock table ${s}.lane in share row exclusive mode`,
  } satisfies Twins<'lanes'>;
}
