/** Places of gangs. */

import type { Twins } from '../../statements.ts';

/** True for a gang whose jobs were deleted. */
const isLeft = `not exists (select 1 from job where job.id = gang.job_id)
    and not exists (select 1 from place where place.gang_id = gang.id)`;

export const gangsSql = {
  waitingMembers: `select l.job_id as id, l.lane, -l.rank as priority, l.due, l.failures, j.spec -> 'gang' as gang,
      (l.attempt > 0 or exists (select 1 from gang g where g.id = j.spec -> 'gang' ->> 'id')) as begun
    from lane n join live l on l.status = 'pending' and l.lane = n.id join job j on j.id = l.job_id
    where n.gang and not exists (select 1 from place p where p.job_id = l.job_id)
      and (?2 or not exists (select 1 from queue q where q.name = n.queue and q.paused_at is not null))
    order by l.rank, l.due, l.job_id limit ?1`,
  places: `select p.job_id, p.gang_id, p.rank, p.size, p.worker_id, p.accepted, p.started, p.until, p.success, l.lane
    from place p left join live l on l.job_id = p.job_id and l.status = 'pending' order by p.gang_id, p.rank`,
  insertPlaces: `insert into place (job_id, gang_id, rank, size, worker_id, accepted, started, until)
    values (?1, ?2, ?3, ?4, ?5, ?5 is null, 0, ?6)`,
  acceptPlaces: 'update place set accepted = 1 where job_id in (select value from json_each(?))',
  startPlaces: 'update place set started = 1 where job_id in (select value from json_each(?))',
  gangs: `select id, job_id, term, failures, charged, stops, stopping from gang
    where id in (select value from json_each(?)) order by id`,
  storeGangs: `insert into gang (id, job_id, term, failures, charged, stops, stopping) values (?, ?, ?, ?, ?, ?, 0)
    on conflict (id) do update set job_id = excluded.job_id, term = excluded.term, failures = excluded.failures,
      charged = excluded.charged, stops = excluded.stops, stopping = 0`,
  stopGang: `update gang set stopping = 1, stops = stops + 1
    where id = ?1 and term = ?2 and not stopping returning id`,
  closePlaces: 'update place set started = 1 where gang_id = ?',
  holdMembers: `update live set status = 'blocked', claim_seq = null, renewed_at = null where job_id = ?`,
  noteSuccesses: 'update place set success = ?2 where job_id = ?1',
  dropPlaces: `delete from place where gang_id = ?1 and exists (select 1 from gang where id = ?1 and term = ?2)
    and not (?3 and exists (select 1 from place where gang_id = ?1 and started))`,
  leavePlaces: 'delete from place where job_id in (select value from json_each(?))',
  pruneGangs: `delete from gang where id in (select value from json_each(?)) and ${isLeft}`,
  gangHosts: `select p.gang_id, p.rank, coalesce(w.profile ->> 'address', w.profile ->> 'host', '') as host
    from place p left join worker w on w.id = p.worker_id
    where p.gang_id in (select value from json_each(?)) and p.worker_id is not null order by p.gang_id, p.rank`,

  // SQLite only: the reader finds what the writer deletes.
  leftGangs: `select id from gang where ${isLeft} limit ?`,
} satisfies Twins<'gangs'>;
