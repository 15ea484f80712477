/** Reservations: at most one per worker. */

import type { Twins } from '../../statements.ts';
import { heldIn } from './heartbeat.ts';
import { epochMs, instant, nowIn } from './instants.ts';
import { isPending } from './standing.ts';

const times = `j.spec -> 'timeout_ms' as timeout_ms, j.spec -> 'kill_grace_ms' as kill_grace_ms,
        j.spec ->> 'on_disconnect' as on_disconnect`;

export function reservationsSql(s: string) {
  const now = nowIn(s);

  return {
    /** $1 workers. */
    workerResources: `with ${now}
      select w.id, w.profile -> 'resources' as resources, ${epochMs('t.now')} as now from t, ${s}.worker w
      where w.id = any($1::integer[])`,
    /** $1 workers. With the keys of the lanes: other processes may have created them. */
    usesOf: `select distinct on (l.job_id) l.worker_id, n.key, ${epochMs('l.started_at')} as started_at, ${times}
      from ${heldIn(s)} and c.worker_id = any($1::integer[])
        join ${s}.lane n on n.id = l.lane join ${s}.job j on j.id = l.job_id`,
    runTimes: `select j.id, ${times} from ${s}.job j where j.id = any($1::bigint[])`,
    /** $1 how long one is valid. A job that waited for a rate may still be parked. */
    reservations: `with ${now}
      select r.worker_id, r.job_id, n.key, l.rank, ${epochMs('r.starts_at')} as starts_at, ${epochMs('r.renewed_at')} as renewed_at
      from t, ${s}.reservation r join ${s}.worker w on w.id = r.worker_id join ${s}.live l on l.job_id = r.job_id
        left join ${s}.parking p on p.id = -l.lane join ${s}.lane n on n.id = coalesce(p.lane, l.lane)
      where r.renewed_at >= t.now - $1::float8 * interval '1 ms' and w.state = 'online'
        and w.seen_at + w.lease_ms * interval '1 ms' >= t.now and ${isPending('l')}`,
    setReservation: `with ${now}
      insert into ${s}.reservation as r (worker_id, job_id, starts_at, renewed_at)
      select $1, $2, ${instant('$3::float8')}, t.now from t
      on conflict (worker_id) do update
        set job_id = excluded.job_id, starts_at = excluded.starts_at, renewed_at = excluded.renewed_at`,
    dropReservation: `delete from ${s}.reservation where worker_id = $1`,
  } satisfies Twins<'reservations'>;
}
