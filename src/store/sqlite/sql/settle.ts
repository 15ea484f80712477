/** Settles successful attempts. */

import { FLAG } from '../../flags.ts';

/** The success of a member of a gang is decided on with its gang. */
const isHeld = `l.attempt = i.value ->> 1 and l.worker_id = i.value ->> 2 and l.status = 'running' and l.flags & ${FLAG.member} = 0`;

export const settleSql = {
  settledBefore: `select j.queue, r.due, r.started_at, r.ended_at from run r join job j on j.id = r.job_id
    where r.job_id = ?1 and r.attempt = ?2 and r.worker_id = ?3 and r.status = 'done'`,

  // SQLite only: ends are written table by table.
  completeResult: 'insert into result (job_id, value) values (?, ?)',
  /** ?1 rows [job, attempt, worker, exit code, result as text, start, processor time, memory]. A row that is twice in a batch counts once. */
  settleRuns: `insert into run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, exit_code,
      attempts, failures, interruptions, snoozes, losses, cancel_requested_at, propagated)
    select l.job_id, l.attempt, 'done', 'done', l.worker_id, coalesce(l.started_at, min(i.value ->> 5, ?2), ?2), ?2, l.due, i.value ->> 3,
      l.attempt, l.failures, l.interruptions, l.snoozes, l.losses, l.cancel_requested_at, iif(l.flags & ${FLAG.hasChildren}, 1, null)
    from json_each(?1) i join live l on l.job_id = i.value ->> 0
    where ${isHeld}
    on conflict do nothing`,
  settleResults: `insert into result (job_id, value) select l.job_id, i.value ->> 4
    from json_each(?1) i join live l on l.job_id = i.value ->> 0
    where ${isHeld}
      and i.value ->> 4 is not null
    on conflict do nothing`,
  settleUsage: `update run set cpu_ms = i.value ->> 6, max_rss = i.value ->> 7
    from json_each(?1) i join live l on l.job_id = i.value ->> 0
    where l.attempt = i.value ->> 1 and l.worker_id = i.value ->> 2 and l.status = 'running'
      and i.value ->> 6 is not null and run.job_id = l.job_id and run.attempt = l.attempt`,
  settleLive: `delete from live where job_id in (
      select l.job_id from json_each(?1) i join live l on l.job_id = i.value ->> 0
      where ${isHeld})
    returning job_id, attempt, worker_id, flags, lane, due, started_at`,
};
