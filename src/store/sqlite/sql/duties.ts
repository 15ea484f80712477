/** Duties: jobs become due, expire or are lost; workers go offline. */

import type { Twins } from '../../statements.ts';

/** `isLeaseOver` in SQL; `at` and `since` are null if the clock was not watched. */
const isOver = (heardAt: string, lease: string, { now, at, since }: Record<'now' | 'at' | 'since', string>) =>
  `(iif(${at} is null, ${heardAt} + ${lease} < ${now}, ${since} + ${lease} <= ${at}
      and (${heardAt} + ${lease} < ${at} or ${heardAt} > max(${now}, ${at}) + ${lease})))`;

export const dutiesSql = {
  nextDue: `select min(due) as due from live where status = 'scheduled'`,
  promote: `update live set status = 'pending' where job_id in (select value from json_each(?))`,
  expiredJobs: `select job_id from live where expires_at <= ?1 and status in ('pending', 'scheduled')
    order by expires_at, job_id limit ?2`,
  lostJobs: `select l.job_id, coalesce(w.seen_at, 0) from live l indexed by live_running
      left join worker w on w.id = l.worker_id
    where l.status = 'running' and l.worker_id is not null and (w.id is null or ${isOver('coalesce(l.renewed_at, w.seen_at)', 'w.lease_ms', { now: '?1', at: '?4', since: '?5' })}
      or l.worker_id in (select value from json_each(?2)))
    order by l.job_id limit ?3`,
  retireWorkers: `update worker set state = 'offline' where state <> 'offline'
      and ${isOver('seen_at', 'lease_ms', { now: '?1', at: '?2', since: '?3' })}
    returning id`,
  forgetWorkers: `delete from worker where state = 'offline' and seen_at < ?1
    and not exists (select 1 from live l where l.status = 'running' and l.worker_id = worker.id)`,

  // SQLite only: part of forgetWorkers and of promote in PostgreSQL.
  forgetReservations: `delete from reservation
    where worker_id not in (select id from worker where state <> 'offline')`,
  dueJobs: `select job_id from live where status = 'scheduled' and due <= ?1 order by due, job_id limit ?2`,
} satisfies Twins<'duties'>;
