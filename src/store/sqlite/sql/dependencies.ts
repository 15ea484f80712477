/** Edges between jobs. */

import { FLAG } from '../../flags.ts';

export const dependenciesSql = {
  /** The workflow and the group of jobs. */
  scopes: `select j.id, j.workflow_id, j.group_id from json_each(?1) i join job j on j.id = i.value`,

  // SQLite only: new jobs and successes have statements of their own.
  markParents: `update live set flags = flags | ${FLAG.hasChildren} where job_id in (select value from json_each(?))`,
  /** ?1 rows [...new job up to its spec, workflow, key, rerun of], ?2 now, ?3 the first one's id. */
  insertLinkedJobs: `insert into job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, rerun_of)
    select ?3 + key, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?2, value ->> 5, value ->> 6,
      value ->> 7, value ->> 8
    from json_each(?1)`,
  /** ?1 rows [id, lane, rank, status, due, expires, flags, open, held, broken, missed], ?2 now: a group has started. */
  insertLinkedLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags, open_edges, held_edges,
      broken_edges, missed_edges, started_at)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
      value ->> 9, value ->> 10, iif(value ->> 3 = 'running', ?2, null)
    from json_each(?1)`,
  /** ?1 rows [id, status, reason, due], ?2 now. */
  insertLinkedEnds: `insert into run (job_id, attempt, status, reason, outcome, ended_at, due, attempts, failures,
      interruptions, snoozes, losses)
    select value ->> 0, 0, value ->> 1, value ->> 2, value ->> 1, ?2, value ->> 3, 0, 0, 0, 0, 0 from json_each(?1)`,
  /** ?1 rows [id, the job whose result it takes over]. */
  keepResults: `insert into result (job_id, value) select i.value ->> 0, x.value
    from json_each(?1) i join result x on x.job_id = i.value ->> 1`,
  /** ?1 rows [child, parent, condition, state]. */
  insertEdges: `insert into edge (child_id, parent_id, condition, state)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?1)`,
  dropEdges: 'delete from edge where child_id = ?',
  dropCascade: 'delete from cascade where job_id in (select value from json_each(?))',
  /** The states of parents; `status` is null while they have not ended. */
  parentStates: `select j.id, l.job_id is not null, r.status, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value left join live l on l.job_id = j.id
      left join run r on r.job_id = j.id and r.status is not null`,
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
  /** An end without an attempt, of a job that keeps its counters. */
  endWaiting: `insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, error,
      attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
    select job_id, 0, ?3, ?4, ?3, worker_id, started_at, ?2, due, ?5,
      attempt, failures, interruptions, snoozes, losses, cancel_requested_at
    from live where job_id = ?1`,
};
