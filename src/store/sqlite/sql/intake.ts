/** Intake: jobs that applications inserted or completed in their own transactions. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

export const intakeSql = {
  intake: 'select job_id, kind, request from intake order by job_id limit ?',
  takeIntake: 'delete from intake where job_id = ?',
  adoptLive: `update live set lane = ?2, flags = ?3, status = ?4, expires_at = ?5, open_edges = ?6, held_edges = ?7,
      broken_edges = ?8, missed_edges = ?9
    where job_id = ?1`,

  // SQLite only: the intake is written on the application's connection. Drivers disagree on `?1`.
  unjudged: `select l.flags, l.due, j.queue, j.kind, j.name, j.priority, j.tags, j.spec
    from live l join job j on j.id = l.job_id where l.job_id = ? and l.status = 'blocked' and l.flags & ${FLAG.unjudged}`,
  isLive: 'select 1 as live from live where job_id = ?',
  /** ?1 queue, ?2 kind, ?3 name, ?4 priority, ?5 tags, ?6 now, ?7 spec. */
  enlistJob: `insert into job (queue, kind, name, priority, tags, created_at, spec) values (?, ?, ?, ?, ?, ?, ?)
    returning id`,
  enlistLive: `insert into live (job_id, status, lane, rank, due, flags) values (?, 'blocked', 0, ?, ?, ?)`,
  enlistIntake: 'insert into intake (job_id, kind, request) values (?, ?, ?)',
  completeLive: `delete from live where job_id = ? and attempt = ? and worker_id = ? and status = 'running' and flags & ${FLAG.member} = 0
    returning flags, started_at, due, failures, interruptions, snoozes, losses, cancel_requested_at`,
  completeRun: `insert into run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, attempts, failures,
      interruptions, snoozes, losses, cancel_requested_at)
    values (?, ?, 'done', 'done', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  completeResult: 'insert into result (job_id, value) values (?, ?)',
  completeKeys: `delete from unique_key where job_id = ? and hold <> 'time'`,
} satisfies Twins<'intake'>;
