/** Changes of jobs other than claim and settle: requeue, end, cancel, retry, edit. */

export const changeSql = {
  askToStop: `update live set cancel_requested_at = ?2 where job_id = ?1 and status = 'running' and cancel_requested_at is null
    returning worker_id`,

  // SQLite only.
  specs: 'select queue, kind, name, priority, tags, spec from job where id = ?',
  endLive: 'delete from live where job_id = ?',
};
