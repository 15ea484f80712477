/** Operations on many jobs, and statistics. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

export function operationsSql(s: string) {
  const now = nowIn(s);

  return {
    insertOperation: `with ${now}
      insert into ${s}.operation (id, action, filter, status, total, asked_by, created_at)
      select nextval('${s}.operation_id'), $1, $2, 'running', $3, $4, t.now from t returning *`,
    operation: `select * from ${s}.operation where id = $1`,
    openOperations: `select * from ${s}.operation where status = 'running' order by id`,
    advanceOperation: `with ${now}
      update ${s}.operation o set cursor = $3, changed = o.changed + $4, skipped = o.skipped + $5, status = $6,
        ended_at = case when $6 <> 'running' then t.now end
      from t where o.id = $1 and o.cursor is not distinct from $2::bigint and o.status = 'running' returning o.id`,
    stats: `select minute, queue, outcome, count, wait, run from ${s}.stat
      where minute >= to_timestamp($1::float8 / 1000.0) and minute < to_timestamp($2::float8 / 1000.0)`,

    // PostgreSQL only: several processes add to a minute.
    addStats: `insert into ${s}.stat as s (minute, instance_id, queue, outcome, count, wait, run)
      select to_timestamp(i.minute / 1000.0), i.instance_id, i.queue, i.outcome, i.count, i.wait::bigint[], i.run::bigint[]
      from unnest($1::float8[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[])
        i(minute, instance_id, queue, outcome, count, wait, run)
      order by 1, 3, 4, 2
      on conflict (minute, queue, outcome, instance_id) do update
      set count = s.count + excluded.count,
        wait = array(select coalesce(a, 0) + coalesce(b, 0)
          from unnest(s.wait, excluded.wait) with ordinality u(a, b, place) order by place),
        run = array(select coalesce(a, 0) + coalesce(b, 0)
          from unnest(s.run, excluded.run) with ordinality u(a, b, place) order by place)`,
  } satisfies Twins<'operations'>;
}
