/** Edges between jobs, and what the end or the retry of one means for the others. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

export const dependenciesSql = {
  markParents: `update live set flags = flags | ${FLAG.hasChildren} where job_id in (select value from json_each(?))`,
  /** ?1 rows [child, parent, condition, state]. */
  insertEdges: `insert into edge (child_id, parent_id, condition, state)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?1)`,
  dropEdges: 'delete from edge where child_id = ?',
  /** Where a job that has ended or is reopened belongs. */
  kin: `select j.id, j.workflow_id, j.group_id, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value`,
  edgesFrom: `select e.parent_id, e.child_id, e.condition, e.state, l.status, l.flags, l.due, l.attempt > 0 or l.started_at is not null,
      l.open_edges, l.held_edges, l.broken_edges, l.missed_edges
    from json_each(?1) i cross join edge e on e.parent_id = i.value left join live l on l.job_id = e.child_id`,
  /** What its parent told all its children of its success holds, though it was not written. */
  edgesInto: `select e.condition, iif(e.state = 'open' and exists (
      select 1 from run r where r.job_id = e.parent_id and r.told), 'held', e.state)
    from edge e where e.child_id = ?`,
  retell: `update run set reason = ?2 where job_id = ?1 and attempt = 0 and status = 'skipped'`,

  // Only here: a change walks from child to child.
  /** How jobs stand that others are to depend on; `status` is null while they have not ended. */
  parentStates: `select j.id, l.job_id is not null, r.status, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value left join live l on l.job_id = j.id
      left join run r on r.job_id = j.id and r.status is not null`,
  /** What a job's other rows say that its live row must say too. */
  links: `select j.workflow_id, j.group_id, exists (select 1 from edge where parent_id = j.id) as children,
      exists (select 1 from fan where job_id = j.id) as fan
    from job j where j.id = ?`,
  endedStarted: `select attempts > 0 or started_at is not null as started from run where job_id = ? and status is not null`,
  setEdge: `update edge set state = ?3 where child_id = ?1 and parent_id = ?2`,
  /** How often a child waits for one of these, and whether their success can only be good news for it. */
  childrenOf: `select e.child_id, count(*), min(e.condition <> 'failure' and e.state = 'open'), l.status, l.flags, l.due,
      l.open_edges, l.broken_edges, l.missed_edges
    from json_each(?1) i cross join edge e on e.parent_id = i.value left join live l on l.job_id = e.child_id
    group by e.child_id`,
  /** ?1 rows [child, edges that hold now], ?2 now. */
  tellChildren: `update live set open_edges = open_edges - (i.value ->> 1), held_edges = held_edges + (i.value ->> 1),
      status = iif(open_edges > i.value ->> 1, 'blocked', iif(due > ?2, 'scheduled', 'pending')),
      expires_at = iif(open_edges > i.value ->> 1 or flags & ${FLAG.hasNoStartTimeout}, null, (
        select cast(round(max(live.due, ?2) + (j.spec ->> 'start_timeout_ms')) as integer) from job j
        where j.id = live.job_id))
    from json_each(?1) i where live.job_id = i.value ->> 0`,
  /** Edges to parents that have not ended, or wait again. */
  reopenInEdges: `update edge set state = 'open' where child_id = ?1
    and parent_id in (select l.job_id from live l where l.job_id = edge.parent_id)`,
  isStep: 'select step_key is not null and group_id is null as found from job where id = ?',
  setCounters: `update live set open_edges = ?2, held_edges = ?3, broken_edges = ?4, missed_edges = ?5 where job_id = ?1`,
  blockJob: `update live set status = 'blocked', expires_at = null where job_id = ?`,
  /** Due and freed: its time to start counts from the later of the two. */
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
  finalRun: `select attempt, status, attempts, failures, interruptions, snoozes, losses, worker_id, started_at, due
    from run where job_id = ? and status is not null`,
} satisfies Twins<'dependencies'>;
