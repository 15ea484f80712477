/** The runs of schedules. */

export const schedulesSql = {
  /** Steps that are not done. */
  unfinishedSteps: `select j.id from job j where j.workflow_id = ? and j.group_id is null
    and not exists (select 1 from run r where r.job_id = j.id and r.status = 'done') order by j.id`,
  setLines: 'update live set line = ?2 where job_id = ?1',
  setWorkflowLine: 'update workflow set line = ?2 where id = ?1',
};
