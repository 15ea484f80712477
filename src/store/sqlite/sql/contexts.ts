/** The run context of claimed jobs: their workflow and their parents. */

export const contextsSql = {
  parentEnds: `select e.child_id, e.parent_id, coalesce(j.step_key, j.name, j.id), r.status, x.value
    from json_each(?1) i join edge e on e.child_id = i.value join job j on j.id = e.parent_id
      join run r on r.job_id = e.parent_id and r.status is not null left join result x on x.job_id = e.parent_id
    order by e.child_id, e.parent_id`,
  beginWorkflows: `update workflow set started_at = ?2, status = 'running'
    where id in (select value from json_each(?1)) and started_at is null`,

  // SQLite only: PostgreSQL's claim returns these columns with the claimed jobs.
  /** The workflow of claimed jobs, and the job whose parents they have: an item has those of its group. */
  claimedPlaces: `select j.id, j.workflow_id, coalesce(j.group_id, j.id), j.group_index, j.step_key
    from json_each(?1) i join job j on j.id = i.value`,
  paramsOf: 'select id, params from workflow where id in (select value from json_each(?))',
};
