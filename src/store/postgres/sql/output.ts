/** Output of attempts. */

import { isHeld } from './heartbeat.ts';

export function outputSql(s: string) {
  const held = `${s}.live l on ${isHeld}`;
  const done = `${s}.run r on r.job_id = i.job_id and r.attempt = i.attempt and r.worker_id = i.worker_id and r.status = 'done'`;
  /** Check and write are one step: nothing is stored of an attempt that lost its lease. */
  const appendLogs = (attempts: string) => `with input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bytea[])
          with ordinality i(job_id, attempt, worker_id, start, data, place)),
      held as materialized (
        select i.* from input i join ${attempts}),
      stored as (
        insert into ${s}.log (job_id, attempt, start, data, received_at)
        select job_id, attempt, start, data, ${s}.now() from held where octet_length(data) > 0 order by place
        on conflict do nothing)
      select place from held`;

  return {
    /** Deletes chunks that lie wholly between the two kept ends. */
    cutLog: `delete from ${s}.log g using (
        select max(start + octet_length(data)) as total from ${s}.log where job_id = $1 and attempt = $2) whole
      where g.job_id = $1 and g.attempt = $2 and whole.total > 2 * $3::bigint
        and g.start >= $3::bigint and g.start + octet_length(g.data) <= whole.total - $3::bigint`,
    insertProbe: `insert into ${s}.log (job_id, attempt, start, data, received_at)
      values (0, 0, 0, $1, ${s}.now()) on conflict do nothing`,
    deleteProbe: `delete from ${s}.log where job_id = 0`,

    // PostgreSQL only: the check of the attempt and the write are one statement.
    appendLogs: appendLogs(held),
    appendCompletedLogs: appendLogs(done),
  };
}
