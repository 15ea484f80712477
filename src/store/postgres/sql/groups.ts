/** Groups and their items. */

import { FLAG } from '../../flags.ts';
import { nowIn } from './instants.ts';

/** The bits that an item takes over from its group. */
const INHERITED = FLAG.inWorkflow | FLAG.neverPrefetched | FLAG.hasLimits | FLAG.member;

export function groupsSql(s: string) {
  const now = nowIn(s);

  return {
    /** $2 the first index, $3 the number of items, $4 true if more can be inserted now. An item is a copy of its group's job. */
    insertItems: `with ${now},
      parent as materialized (
        select j.*, l.lane, l.rank, l.flags & ${INHERITED} as flags, greatest(l.due, t.now) as due,
          (j.spec ->> 'start_timeout_ms')::float8 as start_timeout_ms
        from t, ${s}.job j join ${s}.live l on l.job_id = j.id where j.id = $1),
      item as materialized (
        select nextval('${s}.job_id') as id, e.value, $2::integer + e.place::integer - 1 as place
        from ${s}.job_group f, jsonb_array_elements(jsonb_path_query_array(f.items, '$[$a to $b]',
          jsonb_build_object('a', $2::integer, 'b', $2::integer + $3::integer - 1))) with ordinality e(value, place)
        where f.job_id = $1),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, group_id,
          group_index)
        select i.id, p.queue, p.kind, p.name, p.priority,
          case when p.spec ? 'gang' then p.tags || ('gang:step-' || p.id) else p.tags end, t.now,
          p.spec || jsonb_build_object('item', i.value) || case when p.spec ? 'gang' then jsonb_build_object('gang',
            p.spec -> 'gang' || jsonb_build_object('id', 'step-' || p.id, 'rank', i.place)) else '{}' end,
          p.workflow_id, p.step_key, p.id, i.place
        from item i, parent p, t),
      lives as (
        insert into ${s}.live (job_id, listed_as, lane, rank, due, expires_at, flags)
        select i.id, case when p.due > t.now then 'scheduled' else 'pending' end, p.lane, p.rank, p.due,
          p.due + p.start_timeout_ms * interval '1 ms', p.flags | ${FLAG.item}
        from item i, parent p, t),
      counted as (
        update ${s}.job_group f set inserted = f.inserted + n.n, open_items = f.open_items + n.n,
          needs_items = $4
        from (select count(*)::integer as n from item) n where f.job_id = $1)
      select i.id, p.due, case when p.due > t.now then 'scheduled' else 'pending' end as status from item i, parent p, t`,
  };
}
