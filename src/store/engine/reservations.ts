/** Reservations: at most one per worker, for a job that gets what becomes free there. */

import { RESERVATION_MS, type StoredReservation } from '../../core/capacity.ts';
import { columns } from '../sql/columns.ts';
import { after, now, sql } from '../sql/sql.ts';
import type { Tx } from '../sql/tx.ts';
import { isPending } from './standing.ts';

/** With the key of the job's lane. */
type LaneReservation = Pick<StoredReservation, 'workerId' | 'jobId' | 'startsAt'> & { key: string };

const reservation = columns<LaneReservation>({ workerId: 'int', jobId: 'bigint', startsAt: 'instant', key: 'text' });

/** Those of workers that may claim, for jobs that can be claimed. A job that waited for a rate may still be parked. */
export function reservations(tx: Tx): Promise<LaneReservation[]> {
  return tx.all(
    reservation,
    sql`select r.worker_id, r.job_id, r.starts_at, n.key
      from reservation r join worker w on w.id = r.worker_id join live l on l.job_id = r.job_id
        left join parking p on p.id = -l.lane join lane n on n.id = coalesce(p.lane, l.lane)
      where r.renewed_at >= ${after(now, -RESERVATION_MS)} and w.state = 'online'
        and ${after(sql`w.seen_at`, sql`w.lease_ms`)} >= ${now} and ${isPending('l')}`,
  );
}
