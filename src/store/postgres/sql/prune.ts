/** Retention. */

import { CREATION_SLACK_MS } from '../../list-bounds.ts';
import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';
import { freeKeysIn } from './keys.ts';
import { lastJobBefore } from './read.ts';
import { isFinal } from './standing.ts';

export function pruneSql(s: string) {
  const freeKeys = freeKeysIn(s);

  /** True if an unfinished job depends on it. */
  const isNeeded = (id: string) => `exists (
      select 1 from ${s}.edge e join ${s}.live l on l.job_id = e.child_id where e.parent_id = ${id})`;
  /** Steps of workflows are deleted with their workflow. */
  const standsAlone = (id: string) => `not ${isNeeded(id)}
      and not exists (select 1 from ${s}.job j where j.id = ${id} and j.workflow_id is not null)`;

  /** True if the notifications of an end have not been written yet. */
  const hasNotice = (column: string, id: string) =>
    `exists (select 1 from ${s}.notice n where n.kind = 'ended' and n.${column} = ${id})`;
  /** A member of a gang has a place until the gang is over. */
  const isPlaced = (id: string) => `exists (select 1 from ${s}.place p where p.job_id = ${id})`;

  /** A job that ended before an instant was created before it: younger ones are not looked at. */
  const oldJobs = (isOne: string) => `with ${nowIn(s)},
      old as materialized (select t.now - $1::float8 * interval '1 ms' as until from t),
      youngest as materialized (${lastJobBefore(s, `(select until + ${CREATION_SLACK_MS} * interval '1 ms' from old)`)})
      select c.job_id, c.last, c.looked from (
        select e.job_id, e.ended_at, max(e.job_id) over () as last, count(*) over () as looked from (
          select job_id, ended_at from ${s}.run
          where ${isOne} and job_id > $2 and job_id <= (select id from youngest) order by job_id limit $3) e) c
      where (c.ended_at < (select until from old) and ${standsAlone('c.job_id')}) or c.job_id = c.last
      order by c.job_id limit $4`;

  return {
    /** $1 status, $2 age, $3 limit. Without workflows with steps that have unfinished dependents. */
    oldWorkflows: `select w.id from ${s}.workflow w
      where w.status = $1 and w.ended_at + $2::float8 * interval '1 ms' < (select ${s}.now()) and not exists (
        select 1 from ${s}.job j where j.workflow_id = w.id and ${isNeeded('j.id')})
      order by w.id limit $3`,
    workflowJobs: `select id from ${s}.job where workflow_id = $1 order by id`,
    keepOutcomes: `update ${s}.tick k set outcome = r.status from ${s}.run r
      where k.job_id = any($1::bigint[]) and r.job_id = k.job_id and ${isFinal('r')}`,
    keepWorkflowOutcome: `update ${s}.tick k set outcome = w.status from ${s}.workflow w
      where k.workflow_id = $1 and w.id = $1`,
    pruneWorkflow: `delete from ${s}.workflow where id = $1`,
    pruneWorkflowNotifications: `delete from ${s}.notification where workflow_id = $1`,
    /** Run after the jobs are locked, as `prunable`. */
    deletableJobs: `select i.job_id from unnest($1::bigint[]) i(job_id)
      where ${standsAlone('i.job_id')} and not ${hasNotice('job_id', 'i.job_id')} 
        and not exists (select 1 from ${s}.job j where j.id = i.job_id and j.spec -> 'gang' is not null)`,
    deletableWorkflow: `select 1 where not ${hasNotice('workflow_id', '$1')} and not exists (
      select 1 from ${s}.job j where j.workflow_id = $1
        and (${isNeeded('j.id')} or ${hasNotice('job_id', 'j.id')} or ${isPlaced('j.id')}))`,
    pruneJobs: `with gone as (select unnest($1::bigint[]) as job_id),
      groups as (delete from ${s}.job_group f using gone where f.job_id = gone.job_id),
      cascades as (delete from ${s}.cascade c using gone where c.job_id = gone.job_id),
      into_them as (delete from ${s}.edge e using gone where e.child_id = gone.job_id),
      from_them as (delete from ${s}.edge e using gone where e.parent_id = gone.job_id and not e.child_id = any($1::bigint[])),
      runs as (delete from ${s}.run r using gone where r.job_id = gone.job_id),
      results as (delete from ${s}.result x using gone where x.job_id = gone.job_id),
      progresses as (delete from ${s}.progress p using gone where p.job_id = gone.job_id),
      checkpoints as (delete from ${s}.checkpoint c using gone where c.job_id = gone.job_id),
      logs as (delete from ${s}.log g using gone where g.job_id = gone.job_id),
      sent as (delete from ${s}.notification n using gone where n.job_id = gone.job_id),
      notifications as (delete from ${s}.notification n using gone where n.subject_job_id = gone.job_id and not n.job_id = any($1::bigint[])),
      ${freeKeys('gone', 'true')}
      delete from ${s}.job j using gone where j.id = gone.job_id`,
    pruneKeys: `delete from ${s}.unique_key where key = any(array(
      select key from ${s}.unique_key where expires_at <= (select ${s}.now()) for update skip locked))`,
    pruneIdempotency: `delete from ${s}.idempotency where key = any(array(
      select key from ${s}.idempotency
      where created_at + $1::float8 * interval '1 ms' <= (select ${s}.now()) for update skip locked))`,
    pruneAlarms: `delete from ${s}.alarm where raised_at + $1::float8 * interval '1 ms' < (select ${s}.now())`,
    pruneStats: `delete from ${s}.stat where minute + $1::float8 * interval '1 ms' < (select ${s}.now())`,

    // PostgreSQL only: old jobs are read, locked and checked again; one statement deletes all rows of a job.
    /** $1 age, $2 the id to start after, $3 the number to read, $4 the number to return. */
    oldEndedDone: oldJobs(`coalesce(status, '') = 'done'`),
    /** As oldEndedDone, with the status as $5. */
    oldEndedAs: oldJobs(`status = $5 and status <> 'done'`),
    /** Locks the jobs among $1 that are still ended and old: a job may have been retried meanwhile. */
    lockOld: `select r.job_id from ${s}.run r
      where r.job_id = any($1::bigint[]) and r.status = $2 and r.ended_at + $3::float8 * interval '1 ms' < (select ${s}.now())
      order by r.job_id for update skip locked`,
    /** The jobs among $1 that may be deleted. Run after they are locked: adding a child to one of them takes the same lock. */
    prunable: `select i.job_id from unnest($1::bigint[]) i(job_id) where ${standsAlone('i.job_id')}`,
    neededOf: `select i.job_id from unnest($1::bigint[]) i(job_id) where ${isNeeded('i.job_id')}`,
    lockEndedWorkflow: `select id from ${s}.workflow where id = $1 and ended_at is not null for update`,
    /** Locks the workflow after its jobs, see 'Lock order' in docs/architecture.md. */
    lockOldWorkflow: `select id from ${s}.workflow where id = $1 and status = $2
      and ended_at + $3::float8 * interval '1 ms' < (select ${s}.now()) for update`,
  } satisfies Twins<'prune'>;
}
