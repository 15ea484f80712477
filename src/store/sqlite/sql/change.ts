/** Changes of jobs other than claim and settle: requeue, end, cancel, retry, edit. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

export const changeSql = {
  specs: 'select queue, kind, name, priority, tags, spec from job where id = ?',
  editLive: `update live set lane = ?2, rank = ?3, status = ?4, due = ?5, expires_at = ?6, turn = iif(?7, 0, turn),
      fair_key = iif(?7, null, fair_key), flags = flags & ~${FLAG.hasNoStartTimeout}
    where job_id = ?1`,
  askToStop: `update live set cancel_requested_at = ?2 where job_id = ?1 and status = 'running' and cancel_requested_at is null
    returning worker_id`,

  // SQLite only: a change is guarded and then written, row by row.
  /** The live row, if it still matches the fence. */
  guardLive: `select l.worker_id, l.flags from live l left join worker w on w.id = l.worker_id
    where l.job_id = ?1 and l.status = ?2 and l.attempt = ?3 and (l.status <> 'running' or l.worker_id is ?4)
      and (l.cancel_requested_at is not null) = ?5 and (l.flags & ${FLAG.gangStop} <> 0) = ?11
      and l.failures = ?6 and l.interruptions = ?7 and l.snoozes = ?8 and l.losses = ?9
      and (?10 is null or coalesce(w.seen_at, 0) = ?10)`,
  flag: `update live set cancel_requested_at = ?2, flags = flags & ~${FLAG.gangStop} | ?3 where job_id = ?1`,
  recordAttempt: `insert into run (job_id, attempt, outcome, worker_id, started_at, ended_at, exit_code, signal, error,
      thrown, cpu_ms, max_rss)
    select job_id, attempt, ?3, worker_id, coalesce(started_at, ?2), ?2, ?4, ?5, ?6, ?7, ?8, ?9 from live where job_id = ?1`,
  requeue: `update live set status = ?2, due = coalesce(?3, due), failures = ?4, interruptions = ?5, snoozes = ?6, losses = ?7,
      claim_seq = null, renewed_at = null, cancel_requested_at = null, flags = flags & ~?9 | ?10, expires_at = iif(?8, expires_at, null)
    where job_id = ?1`,
  /** ?13: whether an attempt was running; if not, the row's attempt is 0. */
  endRun: `insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code,
      signal, error, thrown, cpu_ms, max_rss, attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
    select job_id, iif(?13, attempt, 0), ?3, ?4, ?5, worker_id, started_at, ?2, due, ?6,
      ?7, ?8, ?14, ?15, ?16, attempt, ?9, ?10, ?11, ?12, cancel_requested_at
    from live where job_id = ?1`,
  endLive: 'delete from live where job_id = ?',
  waiting: `select l.status, l.due, l.expires_at, j.created_at from live l join job j on j.id = l.job_id
    where l.job_id = ? and l.status in ('blocked', 'scheduled', 'pending')`,
} satisfies Twins<'change'>;
