/** What a worker tells of itself and of the jobs it holds. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

/**
 * Whether a live row `l` is still the attempt that `i` speaks of. Written so that the index of running jobs, where one
 * worker's jobs are one heap of equal entries, is of no use to the planner: the primary key has to do it.
 */
export const isHeld = `l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id and l.status || '' = 'running'`;

/** When a job that was prefetched has started, as its worker told: never in the future. */
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
    hearWorker: `with ${now}
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
