/** Workflows with the counts of their steps. */

export const workflowsSql = {
  insertWorkflow: `insert into workflow (name, params, status, created_at, ended_at, rerun_of, total, open_steps, fine_steps,
      failed_steps, cancelled_steps, notify, definition, definition_version, submitted_by)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,

  // SQLite only: steps have separate insert statements.
  writeWorkflows: `update workflow set status = ?2, ended_at = ?3, open_steps = ?4, fine_steps = ?5, failed_steps = ?6,
      cancelled_steps = ?7
    where id = ?1`,
  /** ?1 rows [...new job up to its spec, key, rerun of], ?2 now, ?3 the workflow, ?4 the first one's id. */
  insertSteps: `insert into job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, rerun_of)
    select ?4 + key, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?2, value ->> 5, ?3, value ->> 6,
      value ->> 7
    from json_each(?1)`,
  /** ?1 rows [id, lane, rank, status, due, expires, flags, open, held, broken, missed], ?2 now: a group has started. */
  insertStepsLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags, open_edges, held_edges,
      broken_edges, missed_edges, started_at)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
      value ->> 9, value ->> 10, iif(value ->> 3 = 'running', ?2, null)
    from json_each(?1)`,
  /** ?1 rows [id, status, reason, due], ?2 now. */
  insertStepsEnded: `insert into run (job_id, attempt, status, reason, outcome, ended_at, due, attempts, failures,
      interruptions, snoozes, losses)
    select value ->> 0, 0, value ->> 1, value ->> 2, value ->> 1, ?2, value ->> 3, 0, 0, 0, 0, 0 from json_each(?1)`,
  keepResult: 'insert into result (job_id, value) select ?1, value from result where job_id = ?2',
};
