/** Reading jobs. */

import type { Twins } from '../../statements.ts';

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
export const jobColumns = `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, j.created_at,
  coalesce(l.status, r.status), coalesce(l.attempt, r.attempts), coalesce(l.failures, r.failures),
  coalesce(l.interruptions, r.interruptions), coalesce(l.snoozes, r.snoozes), coalesce(l.losses, r.losses),
  coalesce(l.due, r.due), iif(l.job_id is null, r.started_at, l.started_at), iif(l.job_id is null, r.ended_at, null),
  iif(l.job_id is null, r.worker_id, l.worker_id), coalesce(l.renewed_at, w.seen_at),
  iif(l.job_id is null, r.cancel_requested_at, l.cancel_requested_at),
  iif(l.status <> 'running', l.expires_at, null),
  r.exit_code, r.signal, r.error, r.thrown, r.reason, x.value,
  (select json_array(p.attempt, p.fraction, p.note) from progress p where p.job_id = j.id),
  (select json_group_array(json_array(e.parent_id, e.condition)) from edge e where e.child_id = j.id),
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of`;

/** The run row shown with a job: for an unfinished job the last attempt with an error, for an ended one the row that ended it. */
const lastRun = `
  left join run r on r.job_id = j.id and r.attempt = (
    select e.attempt from run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1)`;
const heard = `left join worker w on w.id = l.worker_id and l.status = 'running'`;

const besides = `${lastRun} ${heard} left join result x on x.job_id = j.id`;

/** The tables of each search. `cross join` fixes the join order; `indexed by` forces the partial index. */
export const jobsFrom = {
  all: `job j left join live l on l.job_id = j.id ${besides}`,
  waiting: `live l cross join job j on j.id = l.job_id ${besides}`,
  running: `live l indexed by live_running cross join job j on j.id = l.job_id ${besides}`,
  ended: `run r cross join job j on j.id = r.job_id left join live l on l.job_id = j.id ${heard}
    left join result x on x.job_id = j.id`,
};

export const readSql = {
  jobs: `select ${jobColumns} from ${jobsFrom.all} where j.id in (select value from json_each(?))`,
  newestJobId: 'select coalesce(max(id), 0) as id from job',
  /** An offline worker may have claimed until its lease ended, without a later heartbeat. */
  workerGone: `select seen_at + lease_ms as at from worker where id = ? and state = 'offline'`,
  attempts: `select job_id, attempt, worker_id, started_at, ended_at, outcome, exit_code, signal, error, thrown from run
    where job_id = ? and attempt > 0 order by attempt`,
  countAhead: `select count(*) as count from (
    select 1 from live l where l.status = 'pending' and l.lane in (select id from lane where queue = ?1)
      and (l.rank, l.turn, l.due, l.job_id) < (?2, ?3, ?4, ?5) limit ?6)`,

  // SQLite only: parameters of other statements.
  /** The last job above ?1, up to ?2. */
  jobUpTo: 'select id, created_at from job where id > ?1 and id <= ?2 order by id desc limit 1',
  placeOf: `select l.rank, iif(l.status = 'pending', l.turn, 0) as turn, l.due, n.queue from live l join lane n on n.id = l.lane
    where l.job_id = ? and l.status in ('blocked', 'scheduled', 'pending')`,
} satisfies Twins<'read'>;
