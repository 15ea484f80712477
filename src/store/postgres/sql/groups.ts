/** Groups and their items. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';
import { countersOf, edgeState, flagsOf, isFinal } from './standing.ts';

/** The bits that an item takes over from its group. */
const INHERITED = FLAG.inWorkflow | FLAG.neverPrefetched | FLAG.hasLimits | FLAG.member;

export function groupsSql(s: string) {
  const now = nowIn(s);

  return {
    insertGroups: `insert into ${s}.job_group (job_id, source, max_parallel, needs_items)
      select * from unnest($1::bigint[], $2::jsonb[], $3::integer[], $4::boolean[])`,
    groups: `select job_id, max_parallel, needs_items, inserted, open_items, fine_items, failed_items, cancelled_items,
        case when items is not null then jsonb_array_length(items) end as total
      from ${s}.job_group where job_id = any($1::bigint[])`,
    groupSource: `select source from ${s}.job_group where job_id = $1`,
    setItems: `update ${s}.job_group set items = $2 where job_id = $1`,
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
    writeGroups: `update ${s}.job_group f
      set needs_items = i.needs_items, open_items = i.open, fine_items = i.fine, failed_items = i.failed, cancelled_items = i.cancelled
      from unnest($1::bigint[], $2::boolean[], $3::integer[], $4::integer[], $5::integer[], $6::integer[])
        i(job_id, needs_items, open, fine, failed, cancelled)
      where f.job_id = i.job_id`,
    firstFailures: `select distinct on (j.group_id) j.group_id, j.group_index as index, r.reason, r.error
      from ${s}.job j join ${s}.run r on r.job_id = j.id and r.status = 'failed'
      where j.group_id = any($1::bigint[]) order by j.group_id, j.group_index`,
    resultOf: `select value from ${s}.result where job_id = any($1::bigint[])`,
    groupsNeedingItems: `select job_id from ${s}.job_group where needs_items order by job_id limit $1`,

    // PostgreSQL only: groups are locked after all other jobs, and change under their lock.
    lockGroups: `select job_id, flags, cancel_requested_at is not null as cancelled from ${s}.live
      where job_id = any($1::bigint[]) and listed_as = 'running' and flags & ${FLAG.group} <> 0 order by job_id for update`,
    restGroup: `update ${s}.job_group set needs_items = false where job_id = $1`,
    endGroups: `with ${now},
      gone as (
        delete from ${s}.live l using unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) i(job_id, status, reason, error)
        where l.job_id = i.job_id returning l.*, i.status as to_status, i.reason, i.error),
      runs as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, error, attempts,
          failures, interruptions, snoozes, losses, cancel_requested_at)
        select job_id, 0, to_status, reason, to_status, worker_id, started_at, t.now, due, error, attempt, failures,
          interruptions, snoozes, losses, cancel_requested_at
        from gone, t),
      idle as (
        update ${s}.job_group f set needs_items = false from gone g where f.job_id = g.job_id),
      results as (
        insert into ${s}.result (job_id, value)
        select g.job_id, (
          select coalesce(jsonb_agg(x.value order by j.group_index), '[]')
          from ${s}.job j left join ${s}.result x on x.job_id = j.id where j.group_id = g.job_id)
        from gone g where g.to_status = 'done'
          or (g.to_status = 'failed' and exists (select 1 from ${s}.job j where j.group_id = g.job_id)))
      select t.now from t`,
    /** Ended groups run again, because an item was reopened. */
    reviveGroups: `with input as materialized (select * from unnest($1::bigint[], $2::integer[]) i(job_id, lane)),
      dropped as (
        delete from ${s}.run r using input i where r.job_id = i.job_id and ${isFinal('r')} returning r.*),
      results as (
        delete from ${s}.result x using input i where x.job_id = i.job_id),
      awake as (
        update ${s}.job_group f set needs_items = true from input i where f.job_id = i.job_id)
      insert into ${s}.live (job_id, listed_as, lane, rank, due, attempt, failures, interruptions, snoozes, losses, worker_id,
        started_at, flags, open_edges, held_edges, broken_edges, missed_edges)
      select i.job_id, 'running', i.lane, -j.priority::integer, d.due, d.attempts, d.failures, d.interruptions, d.snoozes,
        d.losses, d.worker_id, d.started_at, ${flagsOf(s)}, n.open, n.held, n.broken, n.missed
      from input i join dropped d on d.job_id = i.job_id join ${s}.job j on j.id = i.job_id, ${countersOf(s, 'i.job_id', edgeState(s))} n`,
  } satisfies Twins<'groups'>;
}
