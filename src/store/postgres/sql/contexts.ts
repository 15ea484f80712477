/** The run context of claimed jobs: their workflow and their parents. */

import { isFinal } from './standing.ts';

export function contextsSql(s: string) {
  return {
    /** The ends and results of jobs $1, as columns. */
    parentEnds: `select array_agg(p.id) as ids, json_agg(coalesce(j.step_key, j.name, p.id::text)) as keys,
        json_agg(r.status) as statuses, json_agg(x.value) as results
      from unnest($1::bigint[]) p(id)
        cross join lateral (select j.step_key, j.name from ${s}.job j where j.id = p.id offset 0) j
        cross join lateral (select r.status from ${s}.run r where r.job_id = p.id and ${isFinal('r')} offset 0) r
        left join lateral (select x.value from ${s}.result x where x.job_id = p.id offset 0) x on true`,
    /** Runs after the claim. If the process dies before this, the claim was never answered, so nothing has started. */
    beginWorkflows: `update ${s}.workflow w set started_at = to_timestamp(o.started_at / 1000.0), status = 'running' from (
        select f.id, i.started_at from unnest($1::bigint[], $2::float8[]) i(id, started_at) join ${s}.workflow f on f.id = i.id
        where f.started_at is null order by f.id for update of f) o
      where w.id = o.id`,

    // PostgreSQL only: one statement reads edges and workflows for all jobs of a claim.
    /**
     * The parents of jobs $1, workflows $2, and the step keys of jobs $3. `offset 0` forces a primary-key lookup per job, here
     * and above.
     */
    contextRows: `select array_agg(e.child_id) as children, array_agg(e.parent_id) as parents,
        (select json_agg(json_build_object('id', w.id, 'params', w.params, 'fresh', w.started_at is null))
          from ${s}.workflow w where w.id = any($2::bigint[])) as about,
        (select json_agg(json_build_array(j.id, j.step_key)) from ${s}.job j where j.id = any($3::bigint[])) as steps
      from unnest($1::bigint[]) c(id) cross join lateral (
        select e.child_id, e.parent_id from ${s}.edge e where e.child_id = c.id order by e.parent_id offset 0) e`,
  };
}
