/** Reservations: at most one per worker. */

import type { Twins } from '../../statements.ts';

const times = `j.spec ->> 'timeout_ms' as timeout_ms, j.spec ->> 'kill_grace_ms' as kill_grace_ms,
      j.spec ->> 'on_disconnect' as on_disconnect`;

export const reservationsSql = {
  workerResources: `select profile -> 'resources' as resources from worker where id = ?`,
  usesOf: `select l.lane, l.started_at, ${times} from live l join job j on j.id = l.job_id
    where l.status = 'running' and l.worker_id = ?`,
  runTimes: `select ${times} from job j where j.id = ?`,
  /** ?1 now; ?2 the oldest that is valid. A job that waited for a rate may still be parked. */
  reservations: `select r.worker_id, r.job_id, coalesce((select p.lane from parking p where p.id = -l.lane), l.lane) as lane, l.rank,
      r.starts_at, r.renewed_at
    from reservation r join worker w on w.id = r.worker_id join live l on l.job_id = r.job_id
    where r.renewed_at >= ?2 and w.state = 'online' and w.seen_at + w.lease_ms >= ?1 and l.status = 'pending'`,
  setReservation: `insert into reservation (worker_id, job_id, starts_at, renewed_at) values (?1, ?2, ?3, ?4)
    on conflict (worker_id) do update set job_id = ?2, starts_at = ?3, renewed_at = ?4`,
  dropReservation: 'delete from reservation where worker_id = ?',
} satisfies Twins<'reservations'>;
