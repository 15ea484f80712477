/** Heartbeats of workers, reports of starts, and leases. */

export const heartbeatSql = {
  startJobs: `update live set started_at = min(?4, ?5)
    where job_id = ?1 and attempt = ?2 and worker_id = ?3 and status = 'running' and started_at is null`,
  renewWorker: `update worker set seen_at = ?2,
      state = iif(state <> 'offline', state, iif(profile ->> 'draining', 'draining', 'online'))
    where id = ?1 returning coalesce(profile ->> 'draining', 0) as draining`,
  heldBy: `select job_id, attempt, failures, interruptions, snoozes, losses, flags, claim_seq, renewed_at,
      cancel_requested_at
    from live where status = 'running' and worker_id = ? order by job_id`,
  renewLeases: `update live set renewed_at = ?2 where job_id in (select value from json_each(?1))`,
};
