/** Output of attempts. */

export const outputSql = {
  /** Deletes chunks that lie wholly between the two kept ends. */
  cutLog: `delete from log where job_id = ?1 and attempt = ?2 and start >= ?3 and start < ?4
    and start + length(data) <= ?4`,
  insertProbe: 'insert or replace into log (job_id, attempt, start, data, received_at) values (0, 0, 0, ?, 0)',
  deleteProbe: 'delete from log where job_id = 0',

  // SQLite only: one statement checks the lease, the next ones write output.
  isHeld: `select 1 as held from live where job_id = ?1 and attempt = ?2 and worker_id = ?3 and status = 'running'`,
  isDone: `select 1 as done from run where job_id = ?1 and attempt = ?2 and worker_id = ?3 and status = 'done'`,
  insertLog: `insert into log (job_id, attempt, start, data, received_at) values (?, ?, ?, ?, ?) on conflict do nothing`,
  logEnd: `select start + length(data) as end from log where job_id = ?1 and attempt = ?2 order by start desc limit 1`,
};
