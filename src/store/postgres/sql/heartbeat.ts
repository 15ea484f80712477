/** Heartbeats of workers, reports of starts, and leases. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

/**
 * True if live row `l` is still the attempt that `i` names. `|| ''` stops the planner from using the index live_running,
 * where all jobs of a worker are equal entries: it must use the primary key.
 */
export const isHeld = `l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id and l.status || '' = 'running'`;

/** The start of a prefetched job as reported by its worker, capped at now. */
export function began(ms: string): string {
  return `least(to_timestamp(${ms} / 1000.0)::timestamptz(3), (select now from t))`;
}

export function heartbeatSql(s: string) {
  const now = nowIn(s);

  return {
    startJobs: `with ${now}
      update ${s}.live l set started_at = ${began('i.began_at')}
      from unnest($1::bigint[], $2::integer[], $3::integer[], $4::float8[]) i(job_id, attempt, worker_id, began_at)
      where ${isHeld} and l.started_at is null`,
    renewWorker: `with ${now}
      update ${s}.worker set seen_at = t.now,
        state = case when state <> 'offline' then state when profile ? 'draining' then 'draining' else 'online' end
      from t where id = $1 returning state`,
    heldBy: `select job_id, attempt, claim_seq, renewed_at is not null as renews, cancel_requested_at is not null as cancel
      from ${s}.live where status = 'running' and worker_id = $1 order by job_id`,
    renewLeases: `with ${now}
      update ${s}.live l set renewed_at = t.now from t, unnest($1::bigint[], $2::integer[], $3::integer[]) i(job_id, attempt, worker_id)
      where ${isHeld}`,
  } satisfies Twins<'heartbeat'>;
}
