/**
 * The part of a settle that tells children of it, for those to whom a success can only be good news: they wait, all that
 * they have heard so far was good, and none of their edges asks for a failure. Nothing is to be judged then but whether
 * this was the last. All others, groups among them, are left to carrier.ts, which knows everything.
 *
 * Children are not waited for: those whom somebody else holds are left as well. And as this is the statement that waited
 * for the jobs it ends, it does not see a child that was submitted meanwhile; `concludeDone`, a later one, does.
 */

/** After `gone`, the rows that were ended, and `t`, the present moment. */
export function tellOfSuccess(s: string): string {
  return `kin as materialized (
        select g.*, j.workflow_id, j.group_id from gone g cross join lateral (
          select j.workflow_id, j.group_id from ${s}.job j where j.id = g.job_id offset 0) j),
      settled as (
        delete from ${s}.cascade c using gone g where c.job_id = g.job_id),
      glad as materialized (
        select c.places from (
          select e.child_id, array_agg(e.place) as places from gone g cross join lateral (
            select e.ctid as place, e.child_id, e.condition, e.state from ${s}.edge e where e.parent_id = g.job_id offset 0) e
          where g.flags & 1 <> 0
          group by e.child_id having bool_and(e.condition <> 'failure' and e.state = 'open')) c
        cross join lateral (
          select 1 from ${s}.live l
          where l.job_id = c.child_id and l.status = 'blocked' and l.flags & 2 = 0 and l.broken_edges = 0 and l.missed_edges = 0
          for update skip locked) l),
      closed as (
        update ${s}.edge e set state = 'held'
        where e.ctid = any(array(select unnest(places) from glad)) and e.state = 'open' returning e.child_id),
      told as (
        update ${s}.live l
        set open_edges = l.open_edges - c.count, held_edges = l.held_edges + c.count,
          status = case when l.open_edges > c.count then 'blocked' when l.due > t.now then 'scheduled' else 'pending' end,
          expires_at = case when l.open_edges = c.count then greatest(l.due, t.now) + interval '1 ms' * (
            select (j.spec ->> 'start_timeout_ms')::float8 from ${s}.job j where j.id = l.job_id) end
        from t, (select child_id, count(*)::integer as count from closed group by child_id) c
        where l.job_id = c.child_id returning l.job_id, l.status, l.due)`;
}

/** What became of those children. */
export const toldColumns = `(select json_build_object('ids', array_agg(job_id),
          'pending', array_agg(job_id) filter (where status = 'pending'),
          'due', round(date_part('epoch', min(due) filter (where status = 'scheduled')) * 1000)) from told) as told`;
