/**
 * The part of a settle that tells children of it, for those to whom a success can only be good news: they wait, all that
 * they have heard so far was good, and none of their edges asks for a failure. Nothing is to be judged then but whether
 * this was the last, and their edges stay as they are: `told` in the parent's final row says that they hold. All others,
 * groups among them, are left to carrier.ts, which knows everything.
 *
 * Children are not waited for: those whom somebody else holds are left as well, and those that were changed since this
 * statement began. And as this is the statement that waited for the jobs it ends, it does not see a child that was submitted
 * meanwhile; `concludeDone`, a later one, does.
 */

import { FLAG } from '../flags.ts';

/** After `gone`, the rows that were ended, and `t`, the present moment. */
export function tellOfSuccess(s: string): string {
  return `settled as (
        delete from ${s}.cascade c where c.job_id = any(array(select job_id from gone))),
      good as materialized (
        select e.child_id, count(*)::integer as count from gone g cross join lateral (
          select e.child_id, e.condition, e.state from ${s}.edge e where e.parent_id = g.job_id offset 0) e
        where g.flags & 1 <> 0
        group by e.child_id having count(*) = count(*) filter (where e.condition <> 'failure' and e.state = 'open')),
      glad as materialized (
        select c.*, l.place from good c cross join lateral (
          select l.ctid as place from ${s}.live l
          where l.job_id = c.child_id and l.status = 'blocked' and l.flags & 2 = 0 and l.broken_edges = 0 and l.missed_edges = 0
          for update skip locked) l),
      told as (
        update ${s}.live l
        set open_edges = l.open_edges - c.count, held_edges = l.held_edges + c.count,
          status = case when l.open_edges > c.count then 'blocked' when l.due > (select now from t) then 'scheduled' else 'pending' end,
          expires_at = case when l.open_edges = c.count and l.flags & ${FLAG.startsAnyTime} = 0
            then greatest(l.due, (select now from t)) + interval '1 ms' * (
              select (j.spec ->> 'start_timeout_ms')::float8 from ${s}.job j where j.id = l.job_id) end
        from glad c where l.ctid = c.place returning l.job_id, l.status, l.due)`;
}

/** What became of those children. */
export const toldColumns = `(select json_build_object('ids', array_agg(job_id),
          'pending', array_agg(job_id) filter (where status = 'pending'),
          'due', round(date_part('epoch', min(due) filter (where status = 'scheduled')) * 1000)) from told) as told`;
