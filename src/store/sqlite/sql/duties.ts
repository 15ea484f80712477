/** Duties: jobs become due, expire or are lost; workers go offline. */

import type { Twins } from '../../statements.ts';

/** True if one of the leases in the JSON text `leases` is worker `w`'s, or job `l`'s own, as it was last renewed. */
const isListed = (leases: string, jobId: string, heardAt: string) => `(w.id, ${jobId}, ${heardAt}) in (
      select value ->> 0, value ->> 1, value ->> 2 from json_each(${leases}))`;

export const dutiesSql = {
  nextDue: `select min(due) as due from live where status = 'scheduled'`,
  promote: `update live set status = 'pending' where job_id in (select value from json_each(?))`,
  expiredJobs: `select job_id from live where expires_at <= ?1 and status in ('pending', 'scheduled')
    order by expires_at, job_id limit ?2`,
  leases: `select w.id, 0, w.seen_at, w.lease_ms from worker w
      where w.state <> 'offline' or exists (select 1 from live l where l.status = 'running' and l.worker_id = w.id)
    union all
    select w.id, l.job_id, l.renewed_at, w.lease_ms from live l indexed by live_running
      join worker w on w.id = l.worker_id where l.status = 'running' and l.renewed_at is not null`,
  lostJobs: `select l.job_id, coalesce(w.seen_at, 0) from live l indexed by live_running
      left join worker w on w.id = l.worker_id
    where l.status = 'running' and l.worker_id is not null and (w.id is null
      or ${isListed('?3', 'iif(l.renewed_at is null, 0, l.job_id)', 'coalesce(l.renewed_at, w.seen_at)')}
      or l.worker_id in (select value from json_each(?1)))
    order by l.job_id limit ?2`,
  retireWorkers: `update worker as w set state = 'offline' where state <> 'offline'
      and ${isListed('?1', '0', 'w.seen_at')} returning id`,
  forgetWorkers: `delete from worker where state = 'offline' and seen_at < ?1
    and not exists (select 1 from live l where l.status = 'running' and l.worker_id = worker.id)`,

  // SQLite only: part of forgetWorkers and of promote in PostgreSQL.
  forgetReservations: `delete from reservation
    where worker_id not in (select id from worker where state <> 'offline')`,
  dueJobs: `select job_id from live where status = 'scheduled' and due <= ?1 order by due, job_id limit ?2`,
} satisfies Twins<'duties'>;
