/** Jobs whose ends and reopenings still have to reach their children. */

import { CONDITIONS, SATISFIED_BY } from '../../../core/dag/conditions.ts';
import type { Twins } from '../../statements.ts';
import { isFinal } from './standing.ts';

/** The state of an edge with this condition, as `edgeStateFor` in core/dag/conditions.ts; `end` is null while the parent has not ended. */
function edgeStateFor(condition: string, end: string): string {
  const holds = CONDITIONS.map((name) => {
    const ends = SATISFIED_BY[name].map((status) => `'${status}'`).join(', ');
    return `(${condition} = '${name}' and ${end} in (${ends}))`;
  });
  return `case when ${end} is null then 'open' when ${holds.join(' or ')} then 'held' else 'impossible' end`;
}

export function cascadeSql(s: string) {
  /** True if the child of edge `e` was never claimed or, a group, freed. `offset 0`: see `edgeState`. */
  const neverStarted = `(exists (
        select 1 from ${s}.live l where l.job_id = e.child_id and l.attempt = 0 and l.started_at is null offset 0)
      or exists (
        select 1 from ${s}.run r
        where r.job_id = e.child_id and ${isFinal('r')} and r.attempts = 0 and r.started_at is null offset 0))`;
  /** Jobs $1 with their counted ends; `ended` is null while they have not ended. */
  const seen = `h as materialized (
        select i.id, i.mode, case when r.status = 'failed' and (j.spec -> 'continue_on_failure')::boolean then 'done'
          else r.status end as ended
        from unnest($1::bigint[], $2::text[]) i(id, mode) join ${s}.job j on j.id = i.id
          left join ${s}.run r on r.job_id = i.id and ${isFinal('r')})`;
  /** True if edge `e` has to move for the state of its parent `h`, by the rule of `propagate` in core/dag/propagate.ts. */
  const isStale = `e.parent_id = h.id and e.state <> ${edgeStateFor('e.condition', 'h.ended')}
      and (e.state = 'open' or ${neverStarted})`;

  return {
    cascadeHeads: `select job_id as id, mode from ${s}.cascade order by job_id limit $1`,
    /** Queues jobs $1, with modes $2, if one of their edges has to move. */
    queueCascade: `with ${seen}
      insert into ${s}.cascade as c (job_id, mode)
      select h.id, h.mode from h where exists (select 1 from ${s}.edge e where ${isStale})
      on conflict (job_id) do update set mode = excluded.mode
      returning job_id`,
    dropCascade: `delete from ${s}.cascade where job_id = any($1::bigint[])`,

    // PostgreSQL only: affected jobs are found before they are locked.
    cascadeRows: `select job_id as id, mode from ${s}.cascade where job_id = any($1::bigint[])`,
    /**
     * Children that jobs $1 affect, then those that may follow below, nearest first, no more than $3. `offset 0` keeps each
     * step from joining with all edges of the table.
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
    endCascade: `with ${seen}
      delete from ${s}.cascade c using h
      where c.job_id = h.id and not exists (select 1 from ${s}.edge e where ${isStale})`,
  } satisfies Twins<'cascade'>;
}
