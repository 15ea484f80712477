/**
 * Edges between jobs, and the effects of ends and retries along them.
 *
 * For the order of locks see 'Lock order' in docs/architecture.md. An edge changes under its child's lock, a group's `job_group` row and a
 * job's `cascade` row under the lock of that job. Values that decide are read in a later statement than the lock.
 */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';
import { edgeState, flagsOf, isFinal, lineOfJob, statusOf } from './standing.ts';

const CONTINUES = `coalesce((j.spec -> 'continue_on_failure')::boolean, false) as continues`;

export function dependenciesSql(s: string) {
  const now = nowIn(s);

  return {
    markParents: `update ${s}.live set flags = flags | ${FLAG.hasChildren} where job_id = any($1::bigint[]) and flags & ${FLAG.hasChildren} = 0`,
    insertEdges: `insert into ${s}.edge (child_id, parent_id, condition, state)
      select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])`,
    dropEdges: `delete from ${s}.edge where child_id = any($1::bigint[])`,
    scopes: `select j.id, j.workflow_id, j.step_key, j.group_id, ${CONTINUES}, c.job_id is not null as pending
      from ${s}.job j left join ${s}.cascade c on c.job_id = j.id where j.id = any($1::bigint[])`,
    edgesFrom: `select parent_id, child_id, condition, state from ${s}.edge
      where parent_id = any($1::bigint[]) order by parent_id, child_id`,
    edgesInto: `select e.parent_id, e.child_id, e.condition, ${edgeState(s)} as state from ${s}.edge e
      where e.child_id = any($1::bigint[])`,
    /** Ended jobs that are skipped for another reason now; $4 true if the job was reopened and has ended again. */
    setSkipReason: `with ${now}
      update ${s}.run r set status = i.status, outcome = i.status, reason = i.reason,
        ended_at = case when i.reopened then t.now else r.ended_at end
      from t, unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[]) i(job_id, status, reason, reopened)
      where r.job_id = i.job_id and ${isFinal('r')}`,

    // PostgreSQL only: all affected jobs are locked first, then read, then written at once.
    /** Locks live rows. Ids and groups never change, so the order still holds when the lock is granted. */
    lockLive: `select job_id, flags from ${s}.live where job_id = any($1::bigint[]) order by flags & ${FLAG.group}, job_id for update`,
    /** Locks live rows without waiting. */
    takeLive: `select job_id, flags from ${s}.live where job_id = any($1::bigint[])
      order by flags & ${FLAG.group}, job_id for update skip locked`,
    waitingOf: `select job_id, flags from ${s}.live where job_id = any($1::bigint[]) and ${statusOf('live')} <> 'running'`,
    liveOf: `select job_id from ${s}.live where job_id = any($1::bigint[])`,
    /** The spec of an ended job never changes, so it may be read with the lock. */
    lockEnded: `select r.job_id, r.status, ${CONTINUES} from ${s}.run r join ${s}.job j on j.id = r.job_id
      where r.job_id = any($1::bigint[]) and ${isFinal('r')} order by r.job_id for update of r`,
    takeEnded: `select r.job_id, r.status, ${CONTINUES} from ${s}.run r join ${s}.job j on j.id = r.job_id
      where r.job_id = any($1::bigint[]) and ${isFinal('r')} order by r.job_id for update of r skip locked`,
    /** Locks jobs $1 and $2, and the groups and children of jobs $1. */
    lockWithAffected: `select array_agg(job_id) as ids, array_agg(flags) as flags from (
        select l.job_id, l.flags from ${s}.live l where l.job_id = any(array(
          select unnest($1::bigint[]) union select unnest($2::bigint[])
          union select e.child_id from unnest($1::bigint[]) i(id) cross join lateral (
            select e.child_id from ${s}.edge e where e.parent_id = i.id offset 0) e
          union select j.group_id from ${s}.job j where j.id = any($1::bigint[]) and coalesce(j.group_id, 0) <> 0))
        order by l.flags & ${FLAG.group}, l.job_id for update) l`,
    /** Jobs that ends and retries of jobs $1 may affect: their groups and children; for retries $2 also their parents. */
    affected: `select 'group' as what, group_id as id from ${s}.job where id = any($1::bigint[]) and coalesce(group_id, 0) <> 0
      union select 'child', child_id from ${s}.edge where parent_id = any($1::bigint[])
      union select 'parent', parent_id from ${s}.edge where child_id = any($2::bigint[])`,
    existingJobs: `select id from ${s}.job where id = any($1::bigint[])`,
    /**
     * As insertJobs, for jobs with parents and for steps. fate: wait, free, group (free, but never claimed), kept (done,
     * with the result of keep_from), or why it is skipped.
     */
    insertLinked: `with ${now},
      input as materialized (
        select nextval('${s}.job_id') as id, i.*,
          greatest(t.now, coalesce(to_timestamp(i.run_at / 1000.0), t.now + i.delay_ms * interval '1 ms', t.now)) as due
        from t, unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::jsonb[], $7::integer[],
          $8::float8[], $9::float8[], $10::float8[], $11::integer[], $12::text[], $13::integer[], $14::integer[],
          $15::integer[], $16::integer[], $17::bigint[], $18::text[], $19::bigint[])
          with ordinality i(queue, kind, name, priority, tags, spec, lane, run_at, delay_ms, start_timeout_ms, flags,
            fate, open_edges, held_edges, broken_edges, missed_edges, workflow_id, step_key, keep_from, place)),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, rerun_of)
        select id, queue, kind, name, priority, coalesce(tags::text[], '{}'), t.now, spec, workflow_id, step_key, keep_from from input, t),
      lives as (
        insert into ${s}.live (job_id, listed_as, lane, rank, due, started_at, expires_at, flags, open_edges, held_edges,
          broken_edges, missed_edges)
        select id, case when fate = 'wait' then 'blocked' when fate = 'group' then 'running'
            when due > t.now then 'scheduled' else 'pending' end,
          lane, -priority::integer, due, case when fate = 'group' then t.now end,
          case when fate = 'free' then due + start_timeout_ms * interval '1 ms' end, flags,
          open_edges, held_edges, broken_edges, missed_edges
        from input, t where fate in ('wait', 'free', 'group')),
      runs as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, ended_at, due, attempts)
        select i.id, 0, e.status, case when i.fate <> 'kept' then i.fate end, e.status, t.now, i.due, 0
        from input i, t, lateral (select case when i.fate = 'kept' then 'done' else 'skipped' end as status) e
        where i.fate not in ('wait', 'free', 'group')),
      results as (
        insert into ${s}.result (job_id, value)
        select i.id, x.value from input i join ${s}.result x on x.job_id = i.keep_from where i.fate = 'kept')
      select array_agg(i.id order by i.place) as ids, min(t.now) as now from input i, t`,
    /** A replaced job has the state of a new one; $2 the fate as in insertLinked. */
    relinkLive: `with ${now}
      update ${s}.live l
      set open_edges = $3, held_edges = $4, broken_edges = $5, missed_edges = $6,
        flags = l.flags & ~${FLAG.hasParents} | $7 | case when $7 <> 0 and l.expires_at is null then ${FLAG.hasNoStartTimeout} else 0 end,
        listed_as = case when $2 = 'wait' then 'blocked' else l.listed_as end,
        expires_at = case when $2 = 'wait' then null else l.expires_at end
      where l.job_id = $1`,
    /** Ends a waiting job that can no longer run. */
    skipLive: `with ${now},
      gone as (
        delete from ${s}.live where job_id = $1 returning *)
      insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, attempts, failures,
        interruptions, snoozes, losses, cancel_requested_at)
      select job_id, 0, 'skipped', $2, 'skipped', worker_id, started_at, t.now, due, attempt, failures, interruptions,
        snoozes, losses, cancel_requested_at
      from gone, t`,
    /** Reads by child, then filters by parent: with two arrays the index would be searched for every pair. */
    edgesWithin: `select e.parent_id, e.child_id, e.condition, e.state from unnest($2::bigint[]) c(id) cross join lateral (
        select e.parent_id, e.child_id, e.condition, e.state from ${s}.edge e where e.child_id = c.id offset 0) e
      where e.parent_id in (select unnest($1::bigint[])) order by e.parent_id, e.child_id`,
    liveRelated: `select l.job_id, ${statusOf('l')} as status, l.flags, l.attempt > 0 or l.started_at is not null as started,
        l.cancel_requested_at is not null as cancelled, l.open_edges, l.held_edges, l.broken_edges, l.missed_edges,
        j.workflow_id, j.step_key, j.group_id, j.spec -> 'start_timeout_ms' as start_timeout_ms, ${CONTINUES}
      from ${s}.live l join ${s}.job j on j.id = l.job_id where l.job_id = any($1::bigint[])`,
    endedRelated: `select r.job_id, r.status, r.attempts > 0 or r.started_at is not null as started,
        j.workflow_id, j.step_key, j.group_id, j.spec -> 'start_timeout_ms' as start_timeout_ms, ${CONTINUES}
      from ${s}.run r join ${s}.job j on j.id = r.job_id
      where r.job_id = any($1::bigint[]) and ${isFinal('r')}`,
    /** $1-$4 edges (child, parent, state before, state after), $5-$11 children that stay blocked or are free, $12-$14 children that end. */
    propagate: `with ${now},
      moved as (
        update ${s}.edge e set state = i.after
        from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) i(child_id, parent_id, before, after)
        where e.child_id = i.child_id and e.parent_id = i.parent_id and e.state = i.before returning 1),
      kept as (
        update ${s}.live l
        set open_edges = i.open, held_edges = i.held, broken_edges = i.broken, missed_edges = i.missed,
          listed_as = case when not i.free then 'blocked' when l.flags & ${FLAG.group} <> 0 then 'running'
            when l.due > t.now then 'scheduled' else 'pending' end,
          lane = case when l.lane > 0 then l.lane else coalesce((select p.lane from ${s}.parking p where p.id = -l.lane), l.lane) end,
          started_at = case when i.free and l.flags & ${FLAG.group} <> 0 then t.now else l.started_at end,
          expires_at = case when i.free and l.flags & ${FLAG.group} = 0
            then greatest(l.due, t.now) + i.start_timeout_ms * interval '1 ms' end
        from t, unnest($5::bigint[], $6::integer[], $7::integer[], $8::integer[], $9::integer[], $10::boolean[],
          $11::float8[]) i(job_id, open, held, broken, missed, free, start_timeout_ms)
        where l.job_id = i.job_id returning l.job_id, l.listed_as as status, l.due, i.free),
      gone as (
        delete from ${s}.live l using unnest($12::bigint[], $13::text[], $14::text[]) i(job_id, status, reason)
        where l.job_id = i.job_id returning l.*, i.status as to_status, i.reason),
      runs as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, attempts,
          failures, interruptions, snoozes, losses, cancel_requested_at)
        select job_id, 0, to_status, reason, to_status, worker_id, started_at, t.now, due, attempt, failures,
          interruptions, snoozes, losses, cancel_requested_at
        from gone, t),
      groups as (
        update ${s}.job_group f set needs_items = true from kept k where f.job_id = k.job_id and k.status = 'running')
      select (select count(*) from moved) as moved, t.now, k.job_id, k.status, k.due from t left join kept k on k.free`,
    /** An ended job that never started waits again, or is free. */
    revive: `with ${now},
      input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
          $7::boolean[], $8::float8[]) i(job_id, lane, open, held, broken, missed, free, start_timeout_ms)),
      dropped as (
        delete from ${s}.run r using input i where r.job_id = i.job_id and ${isFinal('r')} returning r.*),
      lives as (
        insert into ${s}.live (job_id, listed_as, lane, rank, due, attempt, failures, interruptions, snoozes, losses,
          worker_id, started_at, cancel_requested_at, expires_at, flags, line, open_edges, held_edges, broken_edges, missed_edges)
        select i.job_id, case when not i.free then 'blocked' when g.job_id is not null then 'running'
            when d.due > t.now then 'scheduled' else 'pending' end,
          i.lane, -j.priority::integer, d.due, d.attempts, d.failures, d.interruptions, d.snoozes, d.losses, d.worker_id,
          case when i.free and g.job_id is not null then t.now else d.started_at end, d.cancel_requested_at,
          case when i.free and g.job_id is null then greatest(d.due, t.now) + i.start_timeout_ms * interval '1 ms' end,
          ${flagsOf(s)}, ${lineOfJob}, i.open, i.held, i.broken, i.missed
        from t, input i join dropped d on d.job_id = i.job_id join ${s}.job j on j.id = i.job_id
          left join ${s}.job_group g on g.job_id = i.job_id
        returning job_id, listed_as as status, due),
      groups as (
        update ${s}.job_group f set needs_items = true from input i where f.job_id = i.job_id and i.free)
      select job_id, status, due from lives`,
  } satisfies Twins<'dependencies'>;
}
