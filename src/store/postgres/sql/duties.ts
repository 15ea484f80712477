/** Duties: jobs become due, expire or are lost; workers go offline. */

import type { Twins } from '../../statements.ts';
import { heldIn } from './heartbeat.ts';
import { epochMs, nowIn } from './instants.ts';

export function dutiesSql(s: string) {
  const now = nowIn(s);
  /** True if one of the leases in $3 to $5 is worker `w`'s, or job `l`'s own, as it was last renewed. */
  const isListed = (jobId: string, heardAt: string) => `(w.id, ${jobId}, ${epochMs(heardAt)}) in (
          select * from unnest($3::integer[], $4::bigint[], $5::float8[]))`;

  return {
    nextDue: `select (select min(due) from ${s}.live where listed_as = 'scheduled') as due, ${s}.now() as now,
      (select array_agg(name) from ${s}.fair_queue) as fair, exists (select 1 from ${s}.parking) or exists (select 1 from ${s}.queue where rate is not null) as meters`,
    promote: `with ${now}
      update ${s}.live l set listed_as = 'pending'
      where l.ctid = any(array(
        select l.ctid from ${s}.live l, t where l.listed_as = 'scheduled' and l.due <= t.now
        order by l.due, l.job_id limit $1 for update of l skip locked))
      returning l.job_id`,
    expiredJobs: `select job_id from ${s}.live where expires_at <= (select ${s}.now())
      and not claimed and listed_as in ('pending', 'scheduled') order by expires_at, job_id limit $1`,
    leases: `select w.id, 0::bigint as job_id, w.seen_at as heard_at, w.lease_ms from ${s}.worker w
        where w.state <> 'offline' or exists (select 1 from ${heldIn(s)} and c.worker_id = w.id)
      union all
      select w.id, l.job_id, l.renewed_at, w.lease_ms from ${heldIn(s)} join ${s}.worker w on w.id = c.worker_id
        where c.seq is null and l.renewed_at is not null`,
    /** The worker's lease is looked at first: most claims need not be opened. */
    lostJobs: `select distinct l.job_id, coalesce(${epochMs('w.seen_at')}, 0) as seen_at
      from ${heldIn(s)} left join ${s}.worker w on w.id = c.worker_id
      where (w.id is null or w.id = any($2::integer[]) or c.seq is null or ${isListed('0::bigint', 'w.seen_at')})
        and (w.id is null or w.id = any($2::integer[])
          or ${isListed('case when l.renewed_at is null then 0 else l.job_id end', 'coalesce(l.renewed_at, w.seen_at)')})
      order by l.job_id limit $1`,
    retireWorkers: `update ${s}.worker w set state = 'offline'
      where w.state <> 'offline' and (w.id, ${epochMs('w.seen_at')}) in (
        select * from unnest($1::integer[], $2::float8[])) returning w.id`,
    /** Also deletes what is left of the claims and reservations of offline and deleted workers. */
    forgetWorkers: `with unreserved as (
        delete from ${s}.reservation r
        where not exists (select 1 from ${s}.worker w where w.id = r.worker_id and w.state <> 'offline')),
      ended as (
        delete from ${s}.claim e
        where not exists (select 1 from ${s}.worker w where w.id = e.worker_id and w.state <> 'offline')
          and not exists (select 1 from ${heldIn(s)} and c.worker_id = e.worker_id and c.id = e.id))
      delete from ${s}.worker w
      where w.state = 'offline' and w.seen_at + $1::float8 * interval '1 ms' < (select ${s}.now())
        and not exists (select 1 from ${heldIn(s)} and c.worker_id = w.id)`,

    // PostgreSQL only: a free session lock shows that the process of a worker has ended.
    /** The lock is held by whichever session of the worker's process is alive; two-part keys have objsubid 2. */
    unlockedWorkers: `select w.id, w.seen_at,
        (extract(epoch from pg_postmaster_start_time()) * 1000)::bigint as started_at
      from (select 1) one left join ${s}.worker w on w.attachment = 'direct' and w.state <> 'offline' and not exists (
        select 1 from pg_locks k join pg_database d on d.oid = k.database
        where d.datname = current_database() and k.locktype = 'advisory' and k.granted and k.objsubid = 2
          and k.classid = (select lock_space from ${s}.meta)::oid and k.objid = w.id::oid)`,
  } satisfies Twins<'duties'>;
}
