/** Output and progress of attempts. */

import type { Twins } from '../../statements.ts';
import { isHeld } from './heartbeat.ts';

export function outputSql(s: string) {
  return {
    /** Deletes chunks that lie wholly between the two kept ends. */
    cutLog: `delete from ${s}.log g using (
        select max(start + octet_length(data)) as total from ${s}.log where job_id = $1 and attempt = $2) whole
      where g.job_id = $1 and g.attempt = $2 and whole.total > 2 * $3::bigint
        and g.start >= $3::bigint and g.start + octet_length(g.data) <= whole.total - $3::bigint`,
    readLog: `select start, data, received_at from (
        select start, data, received_at, octet_length(data) as size, sum(octet_length(data)) over before as bytes,
          row_number() over before as place
        from ${s}.log where job_id = $1 and attempt = $2 and start + octet_length(data) > $3::bigint
        window before as (order by start)) piece
      where bytes <= $4::bigint or place = 1 order by start`,
    insertProbe: `insert into ${s}.log (job_id, attempt, start, data, received_at)
      values (0, 0, 0, $1, ${s}.now()) on conflict do nothing`,
    deleteProbe: `delete from ${s}.log where job_id = 0`,

    // PostgreSQL only: the check of the lease and the write are one statement.
    /** Check and write are one step: nothing is stored of an attempt that lost its lease. */
    appendLogs: `with input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bytea[])
          with ordinality i(job_id, attempt, worker_id, start, data, place)),
      held as materialized (
        select i.* from input i join ${s}.live l on ${isHeld}),
      stored as (
        insert into ${s}.log (job_id, attempt, start, data, received_at)
        select job_id, attempt, start, data, ${s}.now() from held where octet_length(data) > 0 order by place
        on conflict do nothing)
      select place from held`,
    /** A job may occur only once in a call. */
    report: `with input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::float8[], $5::text[])
          with ordinality i(job_id, attempt, worker_id, fraction, note, place)),
      held as materialized (
        select i.* from input i join ${s}.live l on ${isHeld}),
      stored as (
        insert into ${s}.progress (job_id, attempt, fraction, note)
        select job_id, attempt, fraction, note from held order by job_id
        on conflict (job_id) do update set attempt = excluded.attempt, fraction = excluded.fraction, note = excluded.note)
      select place from held`,
  } satisfies Twins<'output'>;
}
