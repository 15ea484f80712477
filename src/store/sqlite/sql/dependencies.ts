/** Edges between jobs, and the effects of ends and retries along them. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

export const dependenciesSql = {
  markParents: `update live set flags = flags | ${FLAG.hasChildren} where job_id in (select value from json_each(?))`,
  /** ?1 rows [child, parent, condition, state]. */
  insertEdges: `insert into edge (child_id, parent_id, condition, state)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?1)`,
  dropEdges: 'delete from edge where child_id = ?',
  /** The workflow and the group of jobs. */
  scopes: `select j.id, j.workflow_id, j.group_id, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value`,
  edgesFrom: `select e.parent_id, e.child_id, e.condition, e.state, l.status, l.flags, l.due, l.attempt > 0 or l.started_at is not null,
      l.open_edges, l.held_edges, l.broken_edges, l.missed_edges
    from json_each(?1) i cross join edge e on e.parent_id = i.value left join live l on l.job_id = e.child_id`,
  /** An edge from a parent whose success was propagated holds, although that was not written. */
  edgesInto: `select e.condition, iif(e.state = 'open' and exists (
      select 1 from run r where r.job_id = e.parent_id and r.propagated), 'held', e.state)
    from edge e where e.child_id = ?`,
  setSkipReason: `update run set reason = ?2 where job_id = ?1 and attempt = 0 and status = 'skipped'`,

  // SQLite only: children are updated one by one.
  /** The states of parents; `status` is null while they have not ended. */
  parentStates: `select j.id, l.job_id is not null, r.status, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value left join live l on l.job_id = j.id
      left join run r on r.job_id = j.id and r.status is not null`,
  /** The facts in other tables from which the flags of a live row follow. */
  links: `select j.workflow_id, j.group_id, exists (select 1 from edge where parent_id = j.id) as children,
      exists (select 1 from job_group where job_id = j.id) as "group"
    from job j where j.id = ?`,
  setEdge: `update edge set state = ?3 where child_id = ?1 and parent_id = ?2`,
  /** The children of jobs, the number of their edges, and whether all of these can hold after a success. */
  childrenOf: `select e.child_id, count(*), min(e.condition <> 'failure' and e.state = 'open'), l.status, l.flags, l.due,
      l.open_edges, l.broken_edges, l.missed_edges
    from json_each(?1) i cross join edge e on e.parent_id = i.value left join live l on l.job_id = e.child_id
    group by e.child_id`,
  /** ?1 rows [child, edges that hold now], ?2 now. */
  propagateSuccess: `update live set open_edges = open_edges - (i.value ->> 1), held_edges = held_edges + (i.value ->> 1),
      status = iif(open_edges > i.value ->> 1, 'blocked', iif(due > ?2, 'scheduled', 'pending')),
      expires_at = iif(open_edges > i.value ->> 1 or flags & ${FLAG.hasNoStartTimeout}, null, (
        select cast(round(max(live.due, ?2) + (j.spec ->> 'start_timeout_ms')) as integer) from job j
        where j.id = live.job_id))
    from json_each(?1) i where live.job_id = i.value ->> 0`,
  /** Edges to parents that have not ended, or wait again. */
  reopenInEdges: `update edge set state = 'open' where child_id = ?1
    and parent_id in (select l.job_id from live l where l.job_id = edge.parent_id)`,
  setCounters: `update live set open_edges = ?2, held_edges = ?3, broken_edges = ?4, missed_edges = ?5 where job_id = ?1`,
  /** A job that is parked goes back to its lane: it is no longer claimable. */
  blockJob: `update live set status = 'blocked', expires_at = null,
      lane = iif(lane < 0, (select p.lane from parking p where p.id = -live.lane), lane)
    where job_id = ?`,
  /** The start timeout counts from when the job is both due and free. */
  freeJob: `update live set status = iif(due > ?2, 'scheduled', 'pending'), expires_at = (
        select cast(round(max(live.due, ?2) + (j.spec ->> 'start_timeout_ms')) as integer) from job j
        where j.id = live.job_id),
      open_edges = ?3, held_edges = ?4, broken_edges = ?5, missed_edges = ?6
    where job_id = ?1`,
  /** An end without an attempt, of a job that keeps its counters. */
  endWaiting: `insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, error,
      attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
    select job_id, 0, ?3, ?4, ?3, worker_id, started_at, ?2, due, ?5,
      attempt, failures, interruptions, snoozes, losses, cancel_requested_at
    from live where job_id = ?1`,
  finalRun: `select r.status, r.failures, r.interruptions, r.snoozes, r.losses, r.started_at, r.due,
      r.attempts > 0 or r.started_at is not null as started, j.step_key is not null and j.group_id is null as is_step
    from run r join job j on j.id = r.job_id where r.job_id = ? and r.status is not null`,
} satisfies Twins<'dependencies'>;
