/** Jobs with parents, and steps of workflows. */

import { FLAG } from '../../flags.ts';
import { nowIn } from './instants.ts';
import { statusOf } from './standing.ts';

export function dependenciesSql(s: string) {
  const now = nowIn(s);

  return {
    scopes: `select id, workflow_id, group_id from ${s}.job where id = any($1::bigint[])`,

    // PostgreSQL only: new jobs of all kinds are written by one statement.
    /** Jobs that can be replaced: one with steps has started. */
    waitingOf: `select job_id, flags from ${s}.live
      where job_id = any($1::bigint[]) and ${statusOf('live')} <> 'running' and flags & ${FLAG.hasSteps} = 0`,
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
  };
}
