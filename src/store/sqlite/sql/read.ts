/** Reading jobs. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
const wholeColumns = `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, j.created_at,
  coalesce(l.status, r.status), coalesce(l.attempt, r.attempts), coalesce(l.failures, r.failures),
  coalesce(l.interruptions, r.interruptions), coalesce(l.snoozes, r.snoozes), coalesce(l.losses, r.losses),
  coalesce(l.due, r.due), iif(l.job_id is null, r.started_at, l.started_at), iif(l.job_id is null, r.ended_at, null),
  iif(l.job_id is null, r.worker_id, l.worker_id), coalesce(l.renewed_at, w.seen_at),
  iif(l.job_id is null, r.cancel_requested_at, l.cancel_requested_at), coalesce(l.flags & ${FLAG.gangStop}, 0),
  iif(l.status <> 'running', l.expires_at, null),
  r.exit_code, r.signal, r.error, r.thrown, r.reason, x.value,
  (select json_array(p.attempt, p.fraction, p.note, p.checkpoint_kind, p.checkpoint_bytes, p.checkpoint_attempt, p.checkpoint_at)
    from progress p where p.job_id = j.id),
  (select json_group_array(json_array(e.parent_id, e.condition)) from edge e where e.child_id = j.id),
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of`;

/** The run row shown with a job: for an unfinished job the last attempt with an error, for an ended one the row that ended it. */
const lastRun = `
  left join run r on r.job_id = j.id and r.attempt = (
    select e.attempt from run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1)`;

const jobsFrom = `job j left join live l on l.job_id = j.id ${lastRun}
  left join worker w on w.id = l.worker_id and l.status = 'running' left join result x on x.job_id = j.id`;

export const readSql = {
  jobs: `select ${wholeColumns} from ${jobsFrom} where j.id in (select value from json_each(?))`,
} satisfies Twins<'read'>;
