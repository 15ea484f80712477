/** Lanes, by which jobs are claimed. */

import { isPending } from './standing.ts';

export function lanesSql(s: string) {
  return {
    lanesByKey: `select id, key, unused_mark is not null as marked from ${s}.lane where key = any($1::text[])`,
    unmarkLanes: `update ${s}.lane set unused_mark = null where key = any($1::text[]) and unused_mark is not null`,
    /** Any of them: those that turn out to be used must not be the same each time. The mark is the transaction's: what may have read the lane before it ends before the lane is deleted. */
    markLanes: `update ${s}.lane n set unused_mark = pg_current_xact_id()::text::bigint
      where n.id in (
        select c.id from ${s}.lane c where not exists (select 1 from ${s}.live l where ${isPending('l')} and l.lane = c.id offset 0)
        order by random() limit $1)
      returning n.id, n.unused_mark as mark`,
    deleteLanes: `with used as materialized (select distinct l.lane from ${s}.live l)
      delete from ${s}.lane n using unnest($1::integer[], $2::bigint[]) i(id, mark)
      where n.id = i.id and n.unused_mark = i.mark and i.mark < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        and not exists (select 1 from used u where u.lane = n.id)
        and not exists (select 1 from ${s}.parking p where p.lane = n.id offset 0)
      returning n.id`,
    insertLanes: `insert into ${s}.lane (key, queue, gang)
      select * from unnest($1::text[], $2::text[], $3::boolean[]) i(key, queue, gang)
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
  };
}
