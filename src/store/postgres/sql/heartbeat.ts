/** Heartbeats of workers, reports of starts, and leases. */

import { nowIn } from './instants.ts';
import { liveOf } from './standing.ts';

/** True if live row `l` is still the attempt that `i` names. */
export const isHeld = 'l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id and l.claimed';

/** The jobs `l` of claim `c` that its worker still holds. */
function heldJobsIn(s: string): string {
  return `unnest(c.job_ids) i(id) join lateral ${liveOf(s, 'i.id')} l on l.claimed and l.worker_id = c.worker_id`;
}

/** Claims `c` with the jobs `l` that their workers still hold. A job that was claimed again is in two claims. */
export function heldIn(s: string): string {
  return `${s}.claim c cross join lateral ${heldJobsIn(s)}`;
}

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
    /** `was_silent`: it might not claim before this heartbeat. */
    renewWorker: `with ${now}, before as materialized (
        select w.state = 'offline' or w.seen_at + w.lease_ms * interval '1 ms' < t.now as was_silent
        from ${s}.worker w, t where w.id = $1)
      update ${s}.worker set seen_at = t.now,
        state = case when state <> 'offline' then state when profile ? 'draining' then 'draining' else 'online' end
      from t where id = $1 returning state, (select was_silent from before)`,
    heldBy: `select l.job_id, l.attempt, max(c.seq) as claim_seq, l.renewed_at is not null as renews,
        l.cancel_requested_at is not null as cancel
      from ${heldIn(s)} and c.worker_id = $1 group by l.job_id, l.attempt, l.renewed_at, l.cancel_requested_at order by l.job_id`,
    renewLeases: `with ${now}
      update ${s}.live l set renewed_at = t.now from t, unnest($1::bigint[], $2::integer[], $3::integer[]) i(job_id, attempt, worker_id)
      where ${isHeld}`,

    // PostgreSQL only: the rows of `claim`, by which the jobs of a worker are found.
    /**
     * Deletes the claims of worker $1 that hold no job any more, cuts the others to the jobs that are left, and lists those
     * jobs as running. Claims younger than $2 are left alone: most jobs end before that.
     */
    tidyClaims: `with ${now},
      old as materialized (
        select c.id, cardinality(c.job_ids) as count, array(
          select l.job_id from ${heldJobsIn(s)}) as held
        from t, ${s}.claim c where c.worker_id = $1 and c.claimed_at < t.now - $2::float8 * interval '1 ms'
        order by c.id for update of c skip locked),
      ended as (
        delete from ${s}.claim c using old o where c.worker_id = $1 and c.id = o.id and o.held = '{}'),
      cut as (
        update ${s}.claim c set job_ids = o.held from old o
        where c.worker_id = $1 and c.id = o.id and o.held <> '{}' and cardinality(o.held) < o.count)
      update ${s}.live l set listed_as = 'running' where l.ctid = any(array(
        select l.ctid from ${s}.live l where l.job_id = any(array(select unnest(held) from old))
          and l.claimed and l.worker_id = $1 and l.listed_as || '' = 'pending'
        order by l.job_id for update skip locked))`,
  };
}
