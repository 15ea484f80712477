/** Queues and their settings. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';
import { statusOf } from './standing.ts';

export function queuesSql(s: string) {
  const now = nowIn(s);

  return {
    /** Groups are not counted as running: no worker runs them. */
    queueCounts: `select n.queue as name, ${statusOf('l')} as status, count(*) filter (where l.flags & ${FLAG.group} = 0 or l.listed_as <> 'running') as count,
        min(l.due) as due
      from ${s}.live l join ${s}.any_lane n on n.id = l.lane where $1::text is null or n.queue = $1
      group by 1, 2`,
    queueRows: `select name, paused_at, max_running, rate from ${s}.queue where $1::text is null or name = $1`,
    /** $2 paused or null, $3 whether to set $4, the limit, $5 whether to set $6, the rate. */
    setQueue: `with ${now}
      insert into ${s}.queue as q (name, paused_at, max_running, rate)
      select $1, case when $2::boolean then t.now end, case when $3::boolean then $4::integer end, case when $5::boolean then $6::jsonb end from t
      on conflict (name) do update
      set paused_at = case when $2::boolean is null then q.paused_at when $2::boolean then coalesce(q.paused_at, excluded.paused_at) end,
        max_running = case when $3::boolean then $4::integer else q.max_running end,
        rate = case when $5::boolean then $6::jsonb else q.rate end`,
    deleteQueue: `delete from ${s}.queue q where q.name = $1
      and not exists (select 1 from ${s}.live l join ${s}.any_lane n on n.id = l.lane where n.queue = $1) returning q.name`,
  } satisfies Twins<'queues'>;
}
