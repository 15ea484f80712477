/** The runs of schedules. */

export function schedulesSql(s: string) {
  return {
    /** Steps that are not done. */
    unfinishedSteps: `select j.id, j.workflow_id from ${s}.job j where j.workflow_id = any($1::bigint[])
      and j.group_id is null and not exists (select 1 from ${s}.run r where r.job_id = j.id and r.status = 'done')
      order by j.id`,
    setLines: `update ${s}.live l set line = i.line from unnest($1::bigint[], $2::bigint[]) i(job_id, line)
      where l.job_id = i.job_id`,
    setWorkflowLine: `update ${s}.workflow set line = $2 where id = $1`,
  };
}
