/** Claims jobs. */

import { FLAG } from '../../flags.ts';

export const claimSql = {
  laneHeads: `select rank, turn, due, job_id from live where status = 'pending' and lane = ?1
    order by rank, turn, due, job_id limit ?2`,
  /** `parking`: 0 if it is not parked. */
  pendingLane: `select coalesce((select p.lane from parking p where p.id = -l.lane), l.lane) as lane, max(-l.lane, 0) as parking
    from live l where l.job_id = ? and l.status = 'pending'`,

  // SQLite only: a claim reads lanes until it has enough jobs, then updates these.
  /** `silent`: its lease is over at ?2. */
  workerState: `select state, coalesce(profile ->> 'draining', 0) as draining, seen_at + lease_ms < ?2 as silent,
      exists (select 1 from live where flags & ${FLAG.suspect}) as suspects,
      exists (select 1 from place where worker_id is not null and not started) as placed
    from worker where id = ?1`,
  countRunning: `select count(*) as count from live l join lane n on n.id = l.lane
    where l.status = 'running' and l.worker_id is not null and n.queue = ?`,
  suspects: `select job_id from live where flags & ${FLAG.suspect}`,
  queueSettings:
    'select name, paused_at, max_running, rate from queue where coalesce(paused_at, max_running, rate) is not null',
  /** The first job of each lane. Reads one index entry per lane, however many jobs it has. */
  allHeads: `with recursive hop (lane) as (
      select min(lane) from live where status = 'pending' and lane > 0
      union all
      select (select min(l.lane) from live l where l.status = 'pending' and l.lane > hop.lane) from hop
      where hop.lane is not null)
    select l.lane, l.rank, l.turn, l.due, l.job_id from hop join live l on l.job_id = (
      select f.job_id from live f where f.status = 'pending' and f.lane = hop.lane
      order by f.rank, f.turn, f.due, f.job_id limit 1)`,
  /** The first ?2 jobs of each of the lanes ?1. */
  lanePieces: `select l.lane, l.rank, l.turn, l.due, l.job_id from json_each(?1) i join live l on l.job_id in (
      select f.job_id from live f where f.status = 'pending' and f.lane = i.value
      order by f.rank, f.turn, f.due, f.job_id limit ?2)
    order by l.lane, l.rank, l.turn, l.due, l.job_id`,
  laneAfter: `select rank, turn, due, job_id from live where status = 'pending' and lane = ?1
      and (rank, turn, due, job_id) > (?3, ?4, ?5, ?6)
    order by rank, turn, due, job_id limit ?2`,
  takeJobs: `update live set status = 'running', attempt = attempt + 1, worker_id = ?2, claim_seq = ?3,
      started_at = iif(?5, null, ?4), renewed_at = iif(?3 is null, ?4, null)
    where job_id in (select value from json_each(?1)) and status = 'pending'`,
  /** The jobs among ?1 that must not be prefetched. */
  mustStart: `select l.job_id from json_each(?1) i join live l on l.job_id = i.value join job j on j.id = l.job_id
    where l.failures > 0 or l.flags & ${FLAG.suspect} or j.spec ->> 'rerun' = 'never' or j.spec ->> 'max_attempts' <= 1`,
  claimedJobs: `select l.job_id, l.attempt, l.failures, l.due, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, l.flags
    from json_each(?1) i join live l on l.job_id = i.value join job j on j.id = l.job_id
    order by l.rank, l.turn, l.due, l.job_id`,
};
