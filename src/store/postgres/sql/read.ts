/** Reading jobs. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { statusOf } from './standing.ts';

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
const jobColumns = `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, j.created_at,
  coalesce(${statusOf('l')}, r.status) as status, coalesce(l.attempt, r.attempts) as attempt,
  coalesce(l.failures, r.failures, 0) as failures, coalesce(l.interruptions, r.interruptions, 0) as interruptions,
  coalesce(l.snoozes, r.snoozes, 0) as snoozes, coalesce(l.losses, r.losses, 0) as losses, coalesce(l.due, r.due) as due,
  case when l.job_id is null then r.started_at else l.started_at end as started_at,
  case when l.job_id is null then r.ended_at end as done_at,
  case when l.job_id is null then r.worker_id else l.worker_id end as worker_id,
  case when ${statusOf('l')} = 'running' then coalesce(l.renewed_at, w.seen_at) end as heard_at,
  case when l.job_id is null then r.cancel_requested_at else l.cancel_requested_at end as cancel_requested_at, coalesce(l.flags & ${FLAG.gangStop} <> 0, false) as gang_stop,
  case when ${statusOf('l')} <> 'running' then l.expires_at end as expires_at, r.exit_code, r.signal, r.error, r.thrown, r.reason, x.value as result,
  p.attempt as progress_attempt, p.fraction, p.note,
  p.checkpoint_kind, p.checkpoint_bytes, p.checkpoint_attempt, p.checkpoint_at,
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of, n.depends_on`;

/** The columns and tables of jobs. */
function jobsFrom(s: string): string {
  return `${jobColumns} from ${s}.job j left join ${s}.live l on l.job_id = j.id ${lastRun(s)}
    left join ${s}.worker w on w.id = l.worker_id left join ${s}.result x on x.job_id = j.id
    left join ${s}.progress p on p.job_id = j.id
    left join lateral (
      select json_agg(json_build_array(e.parent_id, e.condition) order by e.parent_id) as depends_on
      from ${s}.edge e where e.child_id = j.id) n on true`;
}

/** The run row shown with a job: for an unfinished job the last attempt with an error, for an ended one the row that ended it. */
function lastRun(s: string): string {
  return `left join lateral (
    select * from ${s}.run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1) r on true`;
}

export function readSql(s: string) {
  return {
    jobs: `select ${jobsFrom(s)} where j.id = any($1::bigint[])`,
  } satisfies Twins<'read'>;
}
