/**
 * The statements about dependencies, groups and workflows, as a function of the quoted schema.
 *
 * The order of all locks: jobs that have not ended by id, groups after all others; ended jobs (their final run row) by id;
 * workflows by id; keys by name (see locks.ts). An edge changes under its child's lock, a group's `fan` row and a job's
 * `cascade` row under the lock of that job. What is read to decide is read in a later statement than the lock.
 */

import { FLAG } from '../flags.ts';

const CONTINUES = `coalesce((j.spec -> 'continue_on_failure')::boolean, false) as continues`;

/**
 * The row of `run` that ended its job. Written so that the index of such rows, where the job's id comes second, is of no
 * use to the planner, which takes it while the table is small and keeps to it: the primary key has to do it.
 */
function isFinal(row: string): string {
  return `coalesce(${row}.status, '') <> ''`;
}

/**
 * How an edge `e` stands. Where its parent told all its children of its success, the edge itself was not written: what is
 * `open` holds. Such a parent never runs again.
 */
export function edgeState(s: string): string {
  return `case when e.state = 'open' and exists (
        select 1 from ${s}.run r where r.job_id = e.parent_id and r.told) then 'held' else e.state end`;
}

/** The line of a schedule that a job `j` runs for. Of a step, the workflow is the run. */
export const lineOfJob = `case when j.workflow_id is null then (j.spec -> 'tick' ->> 'line')::bigint end`;

export function graphTexts(s: string, now: string) {
  /** Of the edges `e`: the child was never claimed nor, a group, free. */
  const neverStarted = `(exists (
        select 1 from ${s}.live l where l.job_id = e.child_id and l.attempt = 0 and l.started_at is null)
      or exists (
        select 1 from ${s}.run r
        where r.job_id = e.child_id and ${isFinal('r')} and r.attempts = 0 and r.started_at is null))`;
  /** Jobs $1 with what their children see of them; `ended` is null while they have not. */
  const seen = `h as materialized (
        select i.id, i.mode, case when r.status = 'failed' and (j.spec -> 'continue_on_failure')::boolean then 'done'
          else r.status end as ended
        from unnest($1::bigint[], $2::text[]) i(id, mode) join ${s}.job j on j.id = i.id
          left join ${s}.run r on r.job_id = i.id and ${isFinal('r')})`;
  /** An edge `e` that is not as its parent `h` is now, and is to be. */
  const isStale = `e.parent_id = h.id and e.state <> case when h.ended is null then 'open'
        when e.condition = 'ended' or (e.condition = 'success' and h.ended = 'done')
          or (e.condition = 'failure' and h.ended = 'failed') then 'held'
        else 'impossible' end
      and (e.state = 'open' or ${neverStarted})`;

  return {
    // ---- locks

    /** Whether a job is a group never changes, nor does its id: an order that still holds when the lock is had. */
    lockLive: `select job_id, flags from ${s}.live where job_id = any($1::bigint[]) order by flags & 2, job_id for update`,
    /** The same without waiting. */
    takeLive: `select job_id, flags from ${s}.live where job_id = any($1::bigint[])
      order by flags & 2, job_id for update skip locked`,
    waitingOf: `select job_id, flags from ${s}.live where job_id = any($1::bigint[]) and status <> 'running'`,
    liveOf: `select job_id from ${s}.live where job_id = any($1::bigint[])`,
    /** What it was asked to be is never changed while it has ended: that may be read with the lock. */
    lockEnded: `select r.job_id, r.status, ${CONTINUES} from ${s}.run r join ${s}.job j on j.id = r.job_id
      where r.job_id = any($1::bigint[]) and ${isFinal('r')} order by r.job_id for update of r`,
    takeEnded: `select r.job_id, r.status, ${CONTINUES} from ${s}.run r join ${s}.job j on j.id = r.job_id
      where r.job_id = any($1::bigint[]) and ${isFinal('r')} order by r.job_id for update of r skip locked`,

    // ---- parents of new jobs

    existingJobs: `select id from ${s}.job where id = any($1::bigint[])`,
    markParents: `update ${s}.live set flags = flags | 1 where job_id = any($1::bigint[]) and flags & 1 = 0`,

    /**
     * As insertJobs, for jobs that are not simply due. verdict: wait, free, group (free, but never claimed), kept (done,
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
            verdict, open_edges, held_edges, broken_edges, missed_edges, workflow_id, step_key, keep_from, place)),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, rerun_of)
        select id, queue, kind, name, priority, coalesce(tags::text[], '{}'), t.now, spec, workflow_id, step_key, keep_from from input, t),
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, started_at, expires_at, flags, open_edges, held_edges,
          broken_edges, missed_edges)
        select id, case when verdict = 'wait' then 'blocked' when verdict = 'group' then 'running'
            when due > t.now then 'scheduled' else 'pending' end,
          lane, -priority::integer, due, case when verdict = 'group' then t.now end,
          case when verdict = 'free' then due + start_timeout_ms * interval '1 ms' end, flags,
          open_edges, held_edges, broken_edges, missed_edges
        from input, t where verdict in ('wait', 'free', 'group')),
      runs as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, ended_at, due, attempts, failures, interruptions,
          snoozes, losses)
        select i.id, 0, e.status, case when i.verdict <> 'kept' then i.verdict end, e.status, t.now, i.due, 0, 0, 0, 0, 0
        from input i, t, lateral (select case when i.verdict = 'kept' then 'done' else 'skipped' end as status) e
        where i.verdict not in ('wait', 'free', 'group')),
      results as (
        insert into ${s}.result (job_id, value)
        select i.id, x.value from input i join ${s}.result x on x.job_id = i.keep_from where i.verdict = 'kept')
      select array_agg(i.id order by i.place) as ids, min(t.now) as now from input i, t`,
    insertEdges: `insert into ${s}.edge (child_id, parent_id, condition, state)
      select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])`,
    dropEdges: `delete from ${s}.edge where child_id = any($1::bigint[])`,
    /** A waiting job that was replaced stands as it would if it were new; $2 the verdict as in insertLinked. */
    relinkLive: `with ${now}
      update ${s}.live l
      set open_edges = $3, held_edges = $4, broken_edges = $5, missed_edges = $6,
        flags = l.flags & ~16 | $7 | case when $7 <> 0 and l.expires_at is null then ${FLAG.startsAnyTime} else 0 end,
        status = case when $2 = 'wait' then 'blocked' else l.status end,
        expires_at = case when $2 = 'wait' then null else l.expires_at end
      where l.job_id = $1`,
    /** Ends a waiting job that waited in vain. */
    skipLive: `with ${now},
      gone as (
        delete from ${s}.live where job_id = $1 returning *)
      insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, attempts, failures,
        interruptions, snoozes, losses, cancel_requested_at)
      select job_id, 0, 'skipped', $2, 'skipped', worker_id, started_at, t.now, due, attempt, failures, interruptions,
        snoozes, losses, cancel_requested_at
      from gone, t`,

    // ---- what a change means for children

    kin: `select j.id, j.workflow_id, j.step_key, j.group_id, ${CONTINUES}, c.job_id is not null as pending
      from ${s}.job j left join ${s}.cascade c on c.job_id = j.id where j.id = any($1::bigint[])`,
    /**
     * Whether some child of jobs $1, which are done, has not heard of it; $4 are those that just have. If none, workflows $2
     * that go on have $3 more steps done; the others, whose ends are to be told, are only locked.
     */
    concludeDone: `with stale as materialized (
        select exists (
          select 1 from unnest($1::bigint[]) i(id) cross join lateral (
            select e.child_id from ${s}.edge e where e.parent_id = i.id
              and e.state <> case when e.condition = 'failure' then 'impossible' else 'held' end offset 0) e
          where e.child_id not in (select unnest($4::bigint[]))) as found),
      counted as (
        update ${s}.workflow w
        set open_steps = w.open_steps - i.count, fine_steps = w.fine_steps + i.count, status = 'running'
        from unnest($2::bigint[], $3::integer[]) i(id, count), (
          select w.id from ${s}.workflow w, stale where w.id = any($2::bigint[]) and not stale.found
          order by w.id for update of w) l
        where l.id = i.id and w.id = l.id and w.open_steps > i.count returning w.id)
      select (select found from stale) as stale, (select array_agg(id) from counted) as counted`,
    edgesFrom: `select parent_id, child_id, condition, state from ${s}.edge
      where parent_id = any($1::bigint[]) order by parent_id, child_id`,
    /** By child, then by parent: with both as arrays, the index would be asked for every pair. */
    edgesWithin: `select e.parent_id, e.child_id, e.condition, e.state from unnest($2::bigint[]) c(id) cross join lateral (
        select e.parent_id, e.child_id, e.condition, e.state from ${s}.edge e where e.child_id = c.id offset 0) e
      where e.parent_id in (select unnest($1::bigint[])) order by e.parent_id, e.child_id`,
    edgesInto: `select e.parent_id, e.child_id, e.condition, ${edgeState(s)} as state from ${s}.edge e
      where e.child_id = any($1::bigint[])`,
    liveKin: `select l.job_id, l.status, l.flags, l.attempt > 0 or l.started_at is not null as started,
        l.cancel_requested_at is not null as cancelled, l.open_edges, l.held_edges, l.broken_edges, l.missed_edges,
        j.workflow_id, j.step_key, j.group_id, j.spec -> 'start_timeout_ms' as start_timeout_ms, ${CONTINUES}
      from ${s}.live l join ${s}.job j on j.id = l.job_id where l.job_id = any($1::bigint[])`,
    endedKin: `select r.job_id, r.status, r.attempts > 0 or r.started_at is not null as started,
        j.workflow_id, j.step_key, j.group_id, j.spec -> 'start_timeout_ms' as start_timeout_ms, ${CONTINUES}
      from ${s}.run r join ${s}.job j on j.id = r.job_id
      where r.job_id = any($1::bigint[]) and ${isFinal('r')}`,

    /** Edges $1-$4 (child, parent, from, to), children that wait on or are free $5-$11, children that end $12-$14. */
    carry: `with ${now},
      moved as (
        update ${s}.edge e set state = i.after
        from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) i(child_id, parent_id, before, after)
        where e.child_id = i.child_id and e.parent_id = i.parent_id and e.state = i.before returning 1),
      kept as (
        update ${s}.live l
        set open_edges = i.open, held_edges = i.held, broken_edges = i.broken, missed_edges = i.missed,
          status = case when not i.free then 'blocked' when l.flags & 2 <> 0 then 'running'
            when l.due > t.now then 'scheduled' else 'pending' end,
          started_at = case when i.free and l.flags & 2 <> 0 then t.now else l.started_at end,
          expires_at = case when i.free and l.flags & 2 = 0
            then greatest(l.due, t.now) + i.start_timeout_ms * interval '1 ms' end
        from t, unnest($5::bigint[], $6::integer[], $7::integer[], $8::integer[], $9::integer[], $10::boolean[],
          $11::float8[]) i(job_id, open, held, broken, missed, free, start_timeout_ms)
        where l.job_id = i.job_id returning l.job_id, l.status, l.due, i.free),
      gone as (
        delete from ${s}.live l using unnest($12::bigint[], $13::text[], $14::text[]) i(job_id, status, reason)
        where l.job_id = i.job_id returning l.*, i.status as to_status, i.reason),
      runs as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, attempts,
          failures, interruptions, snoozes, losses, cancel_requested_at)
        select job_id, 0, to_status, reason, to_status, worker_id, started_at, t.now, due, attempt, failures,
          interruptions, snoozes, losses, cancel_requested_at
        from gone, t),
      fans as (
        update ${s}.fan f set due = true from kept k where f.job_id = k.job_id and k.status = 'running')
      select (select count(*) from moved) as moved, t.now, k.job_id, k.status, k.due from t left join kept k on k.free`,
    /** An ended job that never started waits again, or is free. */
    revive: `with ${now},
      input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::integer[],
          $7::boolean[], $8::float8[]) i(job_id, lane, open, held, broken, missed, free, start_timeout_ms)),
      dropped as (
        delete from ${s}.run r using input i where r.job_id = i.job_id and ${isFinal('r')} returning r.*),
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, attempt, failures, interruptions, snoozes, losses,
          worker_id, started_at, cancel_requested_at, expires_at, flags, line, open_edges, held_edges, broken_edges, missed_edges)
        select i.job_id, case when not i.free then 'blocked' when g.job_id is not null then 'running'
            when d.due > t.now then 'scheduled' else 'pending' end,
          i.lane, -j.priority::integer, d.due, d.attempts, d.failures, d.interruptions, d.snoozes, d.losses, d.worker_id,
          case when i.free and g.job_id is not null then t.now else d.started_at end, d.cancel_requested_at,
          case when i.free and g.job_id is null then greatest(d.due, t.now) + i.start_timeout_ms * interval '1 ms' end,
          ${flagsOf(s)}, ${lineOfJob}, i.open, i.held, i.broken, i.missed
        from t, input i join dropped d on d.job_id = i.job_id join ${s}.job j on j.id = i.job_id
          left join ${s}.fan g on g.job_id = i.job_id
        returning job_id, status, due),
      fans as (
        update ${s}.fan f set due = true from input i where f.job_id = i.job_id and i.free)
      select job_id, status, due from lives`,
    /** Ended jobs that are skipped for another reason now; $4 whether they end anew. */
    retell: `with ${now}
      update ${s}.run r set status = i.status, outcome = i.status, reason = i.reason,
        ended_at = case when i.anew then t.now else r.ended_at end
      from t, unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[]) i(job_id, status, reason, anew)
      where r.job_id = i.job_id and ${isFinal('r')}`,
    freeKeys: `delete from ${s}.unique_key k using (
        select u.key from ${s}.unique_key u where u.job_id = any($1::bigint[]) and u.hold <> 'time'
        order by u.key collate "C" for update) f
      where k.key = f.key`,

    // ---- those around

    /** Jobs $1 and $2; with the first, those that their ends concern: their groups and children. */
    lockWithConcerned: `select array_agg(job_id) as ids, array_agg(flags) as flags from (
        select l.job_id, l.flags from ${s}.live l where l.job_id = any(array(
          select unnest($1::bigint[]) union select unnest($2::bigint[])
          union select e.child_id from unnest($1::bigint[]) i(id) cross join lateral (
            select e.child_id from ${s}.edge e where e.parent_id = i.id offset 0) e
          union select j.group_id from ${s}.job j where j.id = any($1::bigint[]) and coalesce(j.group_id, 0) <> 0))
        order by l.flags & 2, l.job_id for update) l`,
    /** Whom the ends and retries of jobs $1 may concern: their groups and children; of retries $2, their parents too. */
    concerned: `select 'group' as what, group_id as id from ${s}.job where id = any($1::bigint[]) and coalesce(group_id, 0) <> 0
      union select 'child', child_id from ${s}.edge where parent_id = any($1::bigint[])
      union select 'parent', parent_id from ${s}.edge where child_id = any($2::bigint[])`,

    // ---- cascade

    cascadeHeads: `select job_id as id, mode from ${s}.cascade order by job_id limit $1`,
    cascadeRows: `select job_id as id, mode from ${s}.cascade where job_id = any($1::bigint[])`,
    /**
     * Children that jobs $1 disagree with, then what may follow from theirs, nearest first, no more than $3. `offset 0` keeps
     * each step from joining with all edges there are.
     */
    below: `with recursive ${seen},
      down(id, live) as (
        (select e.child_id, h.ended is null from h cross join lateral (
          select e.child_id from ${s}.edge e where ${isStale} offset 0) e limit $3)
        union
        select e.child_id, d.live from down d cross join lateral (
          select e.child_id from ${s}.edge e
          where e.parent_id = d.id
            and case when d.live then e.state <> 'open' and ${neverStarted} else e.state = 'open' end offset 0) e)
      select id from down limit $3`,
    /** Jobs $1 (with mode $2) whose children are still to hear of them. */
    queueCascade: `with ${seen}
      insert into ${s}.cascade as c (job_id, mode)
      select h.id, h.mode from h where exists (select 1 from ${s}.edge e where ${isStale})
      on conflict (job_id) do update set mode = excluded.mode
      returning job_id`,
    endCascade: `with ${seen}
      delete from ${s}.cascade c using h
      where c.job_id = h.id and not exists (select 1 from ${s}.edge e where ${isStale})`,
    dropCascade: `delete from ${s}.cascade where job_id = any($1::bigint[])`,

    // ---- groups

    lockGroups: `select job_id, flags, cancel_requested_at is not null as cancelled from ${s}.live
      where job_id = any($1::bigint[]) and status = 'running' and flags & 2 <> 0 order by job_id for update`,
    fans: `select job_id, max_parallel, due, inserted, open_items, fine_items, failed_items, cancelled_items,
        case when items is not null then jsonb_array_length(items) end as total
      from ${s}.fan where job_id = any($1::bigint[])`,
    writeFans: `update ${s}.fan f
      set due = i.due, open_items = i.open, fine_items = i.fine, failed_items = i.failed, cancelled_items = i.cancelled
      from unnest($1::bigint[], $2::boolean[], $3::integer[], $4::integer[], $5::integer[], $6::integer[])
        i(job_id, due, open, fine, failed, cancelled)
      where f.job_id = i.job_id`,
    firstFailures: `select distinct on (j.group_id) j.group_id, j.group_index as index, r.reason, r.error
      from ${s}.job j join ${s}.run r on r.job_id = j.id and r.status = 'failed'
      where j.group_id = any($1::bigint[]) order by j.group_id, j.group_index`,
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
        update ${s}.fan f set due = false from gone g where f.job_id = g.job_id),
      results as (
        insert into ${s}.result (job_id, value)
        select g.job_id, (
          select coalesce(jsonb_agg(x.value order by j.group_index), '[]')
          from ${s}.job j left join ${s}.result x on x.job_id = j.id where j.group_id = g.job_id)
        from gone g where g.to_status = 'done')
      select t.now from t`,
    /** Groups that had ended run again, since an item does. */
    reviveGroups: `with input as materialized (select * from unnest($1::bigint[], $2::integer[]) i(job_id, lane)),
      dropped as (
        delete from ${s}.run r using input i where r.job_id = i.job_id and ${isFinal('r')} returning r.*),
      results as (
        delete from ${s}.result x using input i where x.job_id = i.job_id),
      awake as (
        update ${s}.fan f set due = true from input i where f.job_id = i.job_id)
      insert into ${s}.live (job_id, status, lane, rank, due, attempt, failures, interruptions, snoozes, losses, worker_id,
        started_at, flags, open_edges, held_edges, broken_edges, missed_edges)
      select i.job_id, 'running', i.lane, -j.priority::integer, d.due, d.attempts, d.failures, d.interruptions, d.snoozes,
        d.losses, d.worker_id, d.started_at, ${flagsOf(s)}, n.open, n.held, n.broken, n.missed
      from input i join dropped d on d.job_id = i.job_id join ${s}.job j on j.id = i.job_id, ${countersOf(s, 'i.job_id', edgeState(s))} n`,
    graphWork: `select exists (select 1 from ${s}.intake) as adopt, exists (select 1 from ${s}.cascade) as cascade,
      exists (select 1 from ${s}.fan where due) as expand`,
    dueFans: `select job_id from ${s}.fan where due order by job_id limit $1`,
    fanSource: `select source from ${s}.fan where job_id = $1`,
    resultOf: `select value from ${s}.result where job_id = any($1::bigint[])`,
    restFan: `update ${s}.fan set due = false where job_id = $1`,
    setItems: `update ${s}.fan set items = $2 where job_id = $1`,
    insertFans: `insert into ${s}.fan (job_id, source, max_parallel, due)
      select * from unnest($1::bigint[], $2::jsonb[], $3::integer[], $4::boolean[])`,
    /** $2 the first index, $3 how many, $4 whether there is room for more; an item is a copy of its group's job. */
    insertItems: `with ${now},
      parent as materialized (
        select j.*, l.lane, l.rank, l.flags & 516 as flags, greatest(l.due, t.now) as due,
          (j.spec ->> 'start_timeout_ms')::float8 as start_timeout_ms
        from t, ${s}.job j join ${s}.live l on l.job_id = j.id where j.id = $1),
      item as materialized (
        select nextval('${s}.job_id') as id, e.value, $2::integer + e.place::integer - 1 as place
        from ${s}.fan f, jsonb_array_elements(jsonb_path_query_array(f.items, '$[$a to $b]',
          jsonb_build_object('a', $2::integer, 'b', $2::integer + $3::integer - 1))) with ordinality e(value, place)
        where f.job_id = $1),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, group_id,
          group_index)
        select i.id, p.queue, p.kind, p.name, p.priority, p.tags, t.now, p.spec || jsonb_build_object('item', i.value),
          p.workflow_id, p.step_key, p.id, i.place
        from item i, parent p, t),
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, expires_at, flags)
        select i.id, case when p.due > t.now then 'scheduled' else 'pending' end, p.lane, p.rank, p.due,
          p.due + p.start_timeout_ms * interval '1 ms', p.flags | 32
        from item i, parent p, t),
      counted as (
        update ${s}.fan f set inserted = f.inserted + n.n, open_items = f.open_items + n.n,
          due = $4
        from (select count(*)::integer as n from item) n where f.job_id = $1)
      select i.id, p.due, case when p.due > t.now then 'scheduled' else 'pending' end as status from item i, parent p, t`,

    // ---- workflows

    lockWorkflows: `select id, notify, started_at, open_steps, fine_steps, failed_steps, cancelled_steps from ${s}.workflow
      where id = any($1::bigint[]) order by id for update`,
    writeWorkflows: `update ${s}.workflow w
      set open_steps = i.open, fine_steps = i.fine, failed_steps = i.failed, cancelled_steps = i.cancelled,
        status = i.status, ended_at = case when i.open = 0 then to_timestamp($7::float8 / 1000.0) end
      from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::text[])
        i(id, open, fine, failed, cancelled, status)
      where w.id = i.id`,
    insertWorkflow: `with ${now}
      insert into ${s}.workflow (id, name, params, status, created_at, rerun_of, total, open_steps, notify)
      select nextval('${s}.workflow_id'), $1, $2, 'pending', t.now, $3, $4, $4, $5 from t returning id, created_at`,
    workflows: `select * from ${s}.workflow where id = any($1::bigint[])`,
    stepGroups: `select f.job_id, f.source, f.max_parallel, f.inserted, f.open_items, f.fine_items, f.failed_items,
        f.cancelled_items, case when f.items is not null then jsonb_array_length(f.items) end as total
      from ${s}.fan f where f.job_id = any($1::bigint[])`,
    stepIds: `select id from ${s}.job where workflow_id = $1 and group_id is null order by id`,

    // ---- what a claimed job is told

    /** Who the parents of jobs $1 are; and workflows $2. `offset 0` makes each look one by the primary key, here and below. */
    around: `select array_agg(e.child_id) as children, array_agg(e.parent_id) as parents,
        (select json_agg(json_build_object('id', w.id, 'params', w.params, 'fresh', w.started_at is null))
          from ${s}.workflow w where w.id = any($2::bigint[])) as about
      from unnest($1::bigint[]) c(id) cross join lateral (
        select e.child_id, e.parent_id from ${s}.edge e where e.child_id = c.id order by e.parent_id offset 0) e`,
    /** The ends of jobs $1; $2 whether an item asks, who gets scalars only: what cannot be one of those need not be sent. */
    parentEnds: `select array_agg(p.id) as ids, json_agg(coalesce(j.step_key, j.name, p.id::text)) as keys,
        json_agg(r.status) as statuses, json_agg(x.value) as results
      from unnest($1::bigint[]) p(id)
        cross join lateral (select j.step_key, j.name from ${s}.job j where j.id = p.id offset 0) j
        cross join lateral (select r.status from ${s}.run r where r.job_id = p.id and ${isFinal('r')} offset 0) r
        left join lateral (select x.value from ${s}.result x where x.job_id = p.id offset 0) x on true`,
    /** A statement of its own after the claim: one that dies between the two was never answered, so nothing has started. */
    beginWorkflows: `update ${s}.workflow w set started_at = to_timestamp(o.started_at / 1000.0), status = 'running' from (
        select f.id, i.started_at from unnest($1::bigint[], $2::float8[]) i(id, started_at) join ${s}.workflow f on f.id = i.id
        where f.started_at is null order by f.id for update of f) o
      where w.id = o.id`,
  };
}

/** What the flags of a job `j` are when it waits again. Its unique key is not taken again. */
export function flagsOf(s: string): string {
  return `(case when exists (select 1 from ${s}.edge o where o.parent_id = j.id) then 1 else 0 end
      | case when exists (select 1 from ${s}.fan f where f.job_id = j.id) then 2 else 0 end
      | case when j.workflow_id is not null then 4 else 0 end
      | case when exists (select 1 from ${s}.edge o where o.child_id = j.id) then 16 else 0 end
      | case when j.group_id is not null then 32
          when j.spec @? '$.notify[*].on[*] ? (@ == "recovered")' then 384
          when j.spec @? '$.notify[*].on[*] ? (@ == "failed")' then 128 else 0 end
      | case when j.spec ->> 'rerun' = 'never' or (j.spec -> 'max_attempts')::integer <= 1 then 512 else 0 end
      | case when j.spec ->> 'start_timeout_ms' is null then 2048 else 0 end)`;
}

/** The counters of a child's edges, each in the state given; all 0 where there are none. */
export function countersOf(s: string, child: string, state: string): string {
  return `lateral (
        select count(*) filter (where ${state} = 'open') as open, count(*) filter (where ${state} = 'held') as held,
          count(*) filter (where ${state} = 'impossible' and e.condition = 'success') as broken,
          count(*) filter (where ${state} = 'impossible' and e.condition = 'failure') as missed
        from ${s}.edge e where e.child_id = ${child})`;
}
