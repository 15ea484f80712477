/**
 * Every statement of this store that is not put together at run time. Sets come in as JSON arrays (`json_each`): one
 * call, one plan, and no limit on how many. Every call that writes is one `begin immediate` transaction, so what a
 * statement has read stays true until the commit.
 */

import { HAS_PARENTS, STARTS_ANY_TIME, TELLS_FAILURE, TELLS_SUCCESS } from './flags.ts';

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
export const jobColumns = `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, j.created_at,
  coalesce(l.status, r.status), coalesce(l.attempt, r.attempts), coalesce(l.failures, r.failures),
  coalesce(l.interruptions, r.interruptions), coalesce(l.snoozes, r.snoozes), coalesce(l.losses, r.losses),
  coalesce(l.due, r.due), iif(l.job_id is null, r.started_at, l.started_at), iif(l.job_id is null, r.ended_at, null),
  iif(l.job_id is null, r.worker_id, l.worker_id), coalesce(l.renewed_at, w.seen_at),
  iif(l.job_id is null, r.cancel_requested_at, l.cancel_requested_at),
  iif(l.status <> 'running', l.expires_at, null),
  r.exit_code, r.signal, r.error, r.reason, x.value,
  (select json_array(p.attempt, p.fraction, p.note) from progress p where p.job_id = j.id),
  (select json_group_array(json_array(e.parent_id, e.condition)) from edge e where e.child_id = j.id),
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of`;

/** Beside an unfinished job stands its last attempt that left an error, beside an ended one the row that ended it. */
const lastRun = `
  left join run r on r.job_id = j.id and r.attempt = (
    select e.attempt from run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1)`;
const heard = `left join worker w on w.id = l.worker_id and l.status = 'running'`;

const besides = `${lastRun} ${heard} left join result x on x.job_id = j.id`;

/** Where jobs are looked for. `cross join` fixes who leads; `indexed by` keeps the few from being sought among all. */
export const jobsFrom = {
  all: `job j left join live l on l.job_id = j.id ${besides}`,
  waiting: `live l cross join job j on j.id = l.job_id ${besides}`,
  running: `live l indexed by live_running cross join job j on j.id = l.job_id ${besides}`,
  ended: `run r cross join job j on j.id = r.job_id left join live l on l.job_id = j.id ${heard}
    left join result x on x.job_id = j.id`,
};

/** Of an ended job r: it goes without a workflow, and no unfinished job depends on it. */
const standsAlone = `
  not exists (select 1 from job j where j.id = r.job_id and j.workflow_id is not null)
  and not exists (select 1 from edge e join live l on l.job_id = e.child_id where e.parent_id = r.job_id)`;

/** Of an ended workflow w: no unfinished job of another depends on one of its own. */
const nobodyWaits = `
  not exists (select 1 from job j join edge e on e.parent_id = j.id join live l on l.job_id = e.child_id
    where j.workflow_id = w.id)`;

/** What a job is told to be anew when it is replaced. */
const REPLACED = HAS_PARENTS | TELLS_FAILURE | TELLS_SUCCESS | STARTS_ANY_TIME;

export const sql = {
  // ---- schema

  tables: `select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`,
  meta: 'select schema_version, min_code from meta',
  setSchemaVersion: 'update meta set schema_version = ?',

  // ---- lanes

  laneId: 'select id from lane where key = ?',
  laneKey: 'select key from lane where id = ?',
  insertLane: 'insert into lane (key, queue) values (?, ?)',

  // ---- fair turns

  fairQueues: 'select name from fair_queue',
  addFairQueue: 'insert or ignore into fair_queue (name) values (?)',
  lanesOfQueue: 'select id from lane where queue = ?',
  /** Of jobs ?1, those in queues ?2 that are claimable: last in line until they are given their turns. */
  parkTurns: `update live set turn = 9007199254740991, fair_key = null
    where job_id in (select value from json_each(?1)) and status = 'pending'
      and lane in (select n.id from lane n join json_each(?2) q on q.value = n.queue)`,
  newcomers: `select l.job_id, j.queue, j.priority, coalesce(j.spec ->> 'fair_key', '') as fair_key, l.due
    from json_each(?1) i join live l on l.job_id = i.value join job j on j.id = l.job_id
    where l.status = 'pending' and l.turn = 9007199254740991`,
  presentTurn: `select turn from live where status = 'pending' and lane = ?1 and rank = ?2
    order by turn, due, job_id limit 1`,
  lastTurn: `select turn from live where status = 'pending' and lane = ?1 and rank = ?2 and fair_key = ?3
    order by turn desc limit 1`,
  setTurn: 'update live set turn = ?2, fair_key = ?3 where job_id = ?1',

  // ---- insert

  lastJobId: `select coalesce((select seq from sqlite_sequence where name = 'job'), 0) as id`,

  /** ?1 the first id, ?2 now, ?3 rows as `encodeNewJob` writes them. */
  insertJobs: `insert into job (id, queue, kind, name, priority, tags, created_at, spec)
    select ?1 + key, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, ?2, value ->> 5
    from json_each(?3)`,

  /** ?1 the first id, ?2 rows, ?3 the ids of the lanes that the rows point at, ?4 flags. */
  insertLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags)
    select ?1 + key, ?3 ->> (value ->> 6), -(value ->> 3), value ->> 7, value ->> 8, value ->> 9, ?4 | (value ->> 10)
    from json_each(?2)`,

  /** Rows go on with flags and the counters of their edges. ?1 the first id, ?2 rows, ?3 the ids of the lanes. */
  insertDependentLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags, open_edges, held_edges,
      broken_edges, missed_edges)
    select ?1 + key, ?3 ->> (value ->> 6), -(value ->> 3), value ->> 7, value ->> 8, value ->> 9, value ->> 10,
      value ->> 11, value ->> 12, value ->> 13, value ->> 14
    from json_each(?2)`,

  /** How jobs stand that others are to depend on; `status` is null while they have not ended. */
  parentStates: `select j.id, l.job_id is not null, r.status, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value left join live l on l.job_id = j.id
      left join run r on r.job_id = j.id and r.status is not null`,
  /** ?1 rows [child, parent, condition, state]. */
  insertEdges: `insert into edge (child_id, parent_id, condition, state)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?1)`,
  dropEdges: 'delete from edge where child_id = ?',
  markParents: `update live set flags = flags | 1 where job_id in (select value from json_each(?))`,

  keyHolder: `select u.job_id, l.status from unique_key u left join live l on l.job_id = u.job_id
    where u.key = ?1 and (u.expires_at is null or u.expires_at > ?2)`,
  /** An expired key may still lie there. */
  takeKey: 'insert or replace into unique_key (key, job_id, hold, expires_at) values (?, ?, ?, ?)',
  keyOfJob: `select json_extract(spec, '$.unique_key') as key from job where id = ?`,
  releaseKeys: `delete from unique_key where job_id in (select value from json_each(?)) and hold <> 'time'`,
  releasePendingKeys: `delete from unique_key where job_id in (select value from json_each(?)) and hold = 'pending'`,

  /** The holder of a key becomes what was asked for now; its id and its attempts stay. */
  replaceJob: 'update job set queue = ?2, kind = ?3, name = ?4, priority = ?5, tags = ?6, spec = ?7 where id = ?1',
  replaceLive: `update live set lane = ?2, rank = ?3, status = ?4, due = ?5, expires_at = ?6, turn = 0, fair_key = null,
      failures = 0, interruptions = 0, snoozes = 0, losses = 0, flags = (flags & ~${REPLACED}) | ?7,
      open_edges = ?8, held_edges = ?9, broken_edges = ?10, missed_edges = ?11
    where job_id = ?1`,

  idempotency: 'select fingerprint, answer from idempotency where key = ?1 and created_at > ?2',
  insertIdempotency: 'insert or replace into idempotency (key, fingerprint, answer, created_at) values (?, ?, ?, ?)',

  // ---- claim

  workerState: `select state, coalesce(profile ->> 'draining', 0) as draining from worker where id = ?`,
  queueSettings:
    'select name, paused_at, max_running from queue where paused_at is not null or max_running is not null',
  /** Hops from lane to lane along the index, whatever the number of jobs in each. */
  pendingLanes: `with recursive hop (lane) as (
      select min(lane) from live where status = 'pending'
      union all
      select (select min(l.lane) from live l where l.status = 'pending' and l.lane > hop.lane) from hop
      where hop.lane is not null)
    select lane from hop where lane is not null`,
  countRunning: `select count(*) as count from live l join lane n on n.id = l.lane
    where l.status = 'running' and l.worker_id is not null and n.queue = ?`,
  laneHead: `select rank, turn, due, job_id from live where status = 'pending' and lane = ?1
    order by rank, turn, due, job_id limit ?2`,
  laneAfter: `select rank, turn, due, job_id from live where status = 'pending' and lane = ?1
      and (rank, turn, due, job_id) > (?3, ?4, ?5, ?6)
    order by rank, turn, due, job_id limit ?2`,
  takeJobs: `update live set status = 'running', attempt = attempt + 1, worker_id = ?2, claim_seq = ?3,
      started_at = iif(?5, null, ?4), renewed_at = iif(?3 is null, ?4, null)
    where job_id in (select value from json_each(?1)) and status = 'pending'`,
  /** Of jobs ?1, those that must not wait at a worker. */
  mustStart: `select l.job_id from json_each(?1) i join live l on l.job_id = i.value join job j on j.id = l.job_id
    where l.failures > 0 or j.spec ->> 'rerun' = 'never' or j.spec ->> 'max_attempts' <= 1`,
  claimedJobs: `select l.job_id, l.attempt, l.failures, l.due, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, l.flags
    from json_each(?1) i join live l on l.job_id = i.value join job j on j.id = l.job_id`,

  /** Beside the flagged ones of these: where they belong. An item shares the parents of its group. */
  claimedPlaces: `select j.id, j.workflow_id, coalesce(j.group_id, j.id), j.group_index
    from json_each(?1) i join job j on j.id = i.value`,
  paramsOf: 'select id, params from workflow where id in (select value from json_each(?))',
  parentEnds: `select e.child_id, e.parent_id, coalesce(j.step_key, j.name, j.id), r.status, x.value
    from json_each(?1) i join edge e on e.child_id = i.value join job j on j.id = e.parent_id
      join run r on r.job_id = e.parent_id and r.status is not null left join result x on x.job_id = e.parent_id
    order by e.child_id, e.parent_id`,
  startWorkflows: `update workflow set started_at = ?2, status = 'running'
    where id in (select value from json_each(?1)) and started_at is null`,

  // ---- heartbeat

  hearWorker: `update worker set seen_at = ?2,
      state = iif(state <> 'offline', state, iif(profile ->> 'draining', 'draining', 'online'))
    where id = ?1 returning coalesce(profile ->> 'draining', 0) as draining`,
  heldBy: `select job_id, attempt, failures, interruptions, snoozes, losses, flags, claim_seq, renewed_at,
      cancel_requested_at
    from live where status = 'running' and worker_id = ? order by job_id`,
  renewLeases: `update live set renewed_at = ?2 where job_id in (select value from json_each(?1))`,

  // ---- settle

  /** ?1 rows [job, attempt, worker, exit code, result as text]. One row twice in a batch counts once. */
  settleRuns: `insert into run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, exit_code,
      attempts, failures, interruptions, snoozes, losses, cancel_requested_at, told)
    select l.job_id, l.attempt, 'done', 'done', l.worker_id, coalesce(l.started_at, min(i.value ->> 5, ?2), ?2), ?2, l.due, i.value ->> 3,
      l.attempt, l.failures, l.interruptions, l.snoozes, l.losses, l.cancel_requested_at, iif(l.flags & 1, 1, null)
    from json_each(?1) i join live l on l.job_id = i.value ->> 0
    where l.attempt = i.value ->> 1 and l.worker_id = i.value ->> 2 and l.status = 'running'
    on conflict do nothing`,
  settleResults: `insert into result (job_id, value) select l.job_id, i.value ->> 4
    from json_each(?1) i join live l on l.job_id = i.value ->> 0
    where l.attempt = i.value ->> 1 and l.worker_id = i.value ->> 2 and l.status = 'running'
      and i.value ->> 4 is not null
    on conflict do nothing`,
  settleLive: `delete from live where job_id in (
      select l.job_id from json_each(?1) i join live l on l.job_id = i.value ->> 0
      where l.attempt = i.value ->> 1 and l.worker_id = i.value ->> 2 and l.status = 'running')
    returning job_id, attempt, worker_id, flags, lane, due, started_at`,
  startJob: `update live set started_at = min(?4, ?5)
    where job_id = ?1 and attempt = ?2 and worker_id = ?3 and status = 'running' and started_at is null`,
  settledBefore: `select j.queue, r.due, r.started_at, r.ended_at from run r join job j on j.id = r.job_id
    where r.job_id = ?1 and r.attempt = ?2 and r.worker_id = ?3 and r.status = 'done'`,

  // ---- changes

  /** The live row, if it still is what the decision was made on. */
  guardLive: `select l.worker_id, l.flags from live l left join worker w on w.id = l.worker_id
    where l.job_id = ?1 and l.status = ?2 and l.attempt = ?3 and (l.status <> 'running' or l.worker_id is ?4)
      and (l.cancel_requested_at is not null) = ?5
      and l.failures = ?6 and l.interruptions = ?7 and l.snoozes = ?8 and l.losses = ?9
      and (?10 is null or coalesce(w.seen_at, 0) = ?10)`,
  guardEnded: `select r.attempt, r.started_at, r.worker_id from run r
    where r.job_id = ?1 and r.status = ?2 and r.attempts = ?3 and (r.cancel_requested_at is not null) = ?4
      and r.failures = ?5 and r.interruptions = ?6 and r.snoozes = ?7 and r.losses = ?8`,
  flag: 'update live set cancel_requested_at = ?2, flags = flags | ?3 where job_id = ?1',
  recordAttempt: `insert into run (job_id, attempt, outcome, worker_id, started_at, ended_at, exit_code, signal, error)
    select job_id, attempt, ?3, worker_id, coalesce(started_at, ?2), ?2, ?4, ?5, ?6 from live where job_id = ?1`,
  requeue: `update live set status = ?2, due = coalesce(?3, due), failures = ?4, interruptions = ?5, snoozes = ?6, losses = ?7,
      claim_seq = null, renewed_at = null, expires_at = iif(?8, expires_at, null)
    where job_id = ?1`,
  /** ?13: whether an attempt was running; where none was, the row is number 0. */
  endRun: `insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code,
      signal, error, attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
    select job_id, iif(?13, attempt, 0), ?3, ?4, ?5, worker_id, started_at, ?2, due, ?6,
      ?7, ?8, attempt, ?9, ?10, ?11, ?12, cancel_requested_at
    from live where job_id = ?1`,
  endLive: 'delete from live where job_id = ?',
  reopenRun: `update run set status = null, reason = null, due = null, attempts = null, failures = null,
      interruptions = null, snoozes = null, losses = null, cancel_requested_at = null
    where job_id = ?1 and attempt = ?2`,
  dropRun: 'delete from run where job_id = ?1 and attempt = ?2',
  reopenLive: `insert into live (job_id, status, lane, rank, due, attempt, failures, interruptions, snoozes, losses,
      worker_id, started_at, flags, open_edges, held_edges, broken_edges, missed_edges)
    select id, ?11, ?2, -priority, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?12, ?13, ?14, ?15, ?16 from job where id = ?1`,
  specOf: 'select queue, kind, name, priority, tags, spec from job where id = ?',

  // ---- dependencies

  /** Where a job that has ended or is reopened belongs. */
  belongings: `select j.id, j.workflow_id, j.group_id, j.spec ->> 'continue_on_failure' is 1
    from json_each(?1) i join job j on j.id = i.value`,
  /** What a job's other rows say that its live row must say too. */
  around: `select j.workflow_id, j.group_id, exists (select 1 from edge where parent_id = j.id) as children,
      exists (select 1 from fan where job_id = j.id) as fan
    from job j where j.id = ?`,
  childEdges: `select e.parent_id, e.child_id, e.condition, e.state, l.status, l.flags, l.due, l.attempt > 0 or l.started_at is not null,
      l.open_edges, l.held_edges, l.broken_edges, l.missed_edges
    from json_each(?1) i cross join edge e on e.parent_id = i.value left join live l on l.job_id = e.child_id`,
  endedStarted: `select attempts > 0 or started_at is not null as started from run where job_id = ? and status is not null`,
  setEdge: `update edge set state = ?3 where child_id = ?1 and parent_id = ?2`,
  /** What its parent told all its children of its success holds, though it was not written. */
  edgesOf: `select e.condition, iif(e.state = 'open' and exists (
      select 1 from run r where r.job_id = e.parent_id and r.told), 'held', e.state)
    from edge e where e.child_id = ?`,
  /** How often a child waits for one of these, and whether their success can only be good news for it. */
  childrenOf: `select e.child_id, count(*), min(e.condition <> 'failure' and e.state = 'open'), l.status, l.flags, l.due,
      l.open_edges, l.broken_edges, l.missed_edges
    from json_each(?1) i cross join edge e on e.parent_id = i.value left join live l on l.job_id = e.child_id
    group by e.child_id`,
  /** ?1 rows [child, edges that hold now], ?2 now. */
  tellChildren: `update live set open_edges = open_edges - (i.value ->> 1), held_edges = held_edges + (i.value ->> 1),
      status = iif(open_edges > i.value ->> 1, 'blocked', iif(due > ?2, 'scheduled', 'pending')),
      expires_at = iif(open_edges > i.value ->> 1 or flags & ${STARTS_ANY_TIME}, null, (
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
  startGroup: `update live set status = 'running', started_at = ?2, expires_at = null,
      open_edges = ?3, held_edges = ?4, broken_edges = ?5, missed_edges = ?6
    where job_id = ?1`,
  /** An end without an attempt, of a job that keeps its counters. */
  endWaiting: `insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, error,
      attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
    select job_id, 0, ?3, ?4, ?3, worker_id, started_at, ?2, due, ?5,
      attempt, failures, interruptions, snoozes, losses, cancel_requested_at
    from live where job_id = ?1`,
  skipOtherwise: `update run set reason = ?2 where job_id = ?1 and attempt = 0 and status = 'skipped'`,
  finalRun: `select attempt, status, attempts, failures, interruptions, snoozes, losses, worker_id, started_at, due
    from run where job_id = ? and status is not null`,

  /** ?1 rows [job, mode]. */
  toCascade: `insert or replace into cascade (job_id, mode) select value ->> 0, value ->> 1 from json_each(?1)`,
  dropCascades: 'delete from cascade where job_id in (select value from json_each(?))',
  nextCascades: 'select job_id, mode from cascade order by job_id limit ?',

  // ---- groups

  insertFan: 'insert into fan (job_id, source, max_parallel, due) values (?, ?, ?, ?)',
  fan: `select job_id, total, max_parallel, inserted, open_items as open, fine_items as fine, failed_items as failed,
      cancelled_items as cancelled
    from fan where job_id = ?`,
  fanList: 'select source, items, total from fan where job_id = ?',
  graphWork: `select exists (select 1 from intake) as adopt, exists (select 1 from cascade) as cascade,
    exists (select 1 from fan where due = 1) as expand`,
  dueFans: 'select job_id from fan where due = 1 order by job_id limit ?',
  setFanDue: 'update fan set due = ?2 where job_id = ?1',
  setFanItems: 'update fan set items = ?2, total = ?3 where job_id = ?1',
  countItems: `update fan set open_items = ?2, fine_items = ?3, failed_items = ?4, cancelled_items = ?5 where job_id = ?1`,
  liveState: `select status, flags, due, cancel_requested_at from live where job_id = ?`,
  resultOf: 'select value from result where job_id = ?',
  dropResult: 'delete from result where job_id = ?',
  /** ?1 the first id, ?2 the group, ?3 now, ?4 specs as text. */
  insertItems: `insert into job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, group_id,
      group_index)
    select ?1 + i.key, g.queue, g.kind, g.name, g.priority, g.tags, ?3, i.value, g.workflow_id, g.step_key, g.id,
      f.inserted + i.key
    from json_each(?4) i cross join job g cross join fan f where g.id = ?2 and f.job_id = ?2`,
  /** ?1 the first id, ?2 the group, ?3 now, ?4 how long they may take to start, ?5 flags, ?6 how many. */
  insertItemsLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags)
    select j.id, g.lane, g.rank, iif(g.due > ?3, 'scheduled', 'pending'), max(g.due, ?3), max(g.due, ?3) + ?4, ?5
    from live g cross join job j where g.job_id = ?2 and j.id >= ?1 and j.id < ?1 + ?6`,
  itemsInserted: 'update fan set inserted = inserted + ?2, open_items = open_items + ?2 where job_id = ?1',
  firstFailedItem: `select j.group_index as "index", r.reason, r.error from job j join run r on r.job_id = j.id
    where j.group_id = ? and r.status = 'failed' order by j.group_index limit 1`,
  /** In the order of the items; `null` where there is none. */
  joinResults: `insert or replace into result (job_id, value)
    select ?1, json_group_array(json(coalesce(x.value, 'null')) order by j.group_index)
    from job j left join result x on x.job_id = j.id where j.group_id = ?1`,

  // ---- workflows

  insertWorkflow: `insert into workflow (name, params, status, created_at, ended_at, rerun_of, total, open_steps, fine_steps,
      failed_steps, cancelled_steps, notify)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  /** ?1 rows [id, ...new job up to its spec, key, rerun of], ?2 now, ?3 the workflow. */
  insertSteps: `insert into job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, rerun_of)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, ?2, value ->> 6, ?3, value ->> 7,
      value ->> 8
    from json_each(?1)`,
  /** ?1 rows [id, lane, rank, status, due, expires, flags, open, held, broken, missed], ?2 now: a group has started. */
  insertStepsLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags, open_edges, held_edges,
      broken_edges, missed_edges, started_at)
    select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
      value ->> 9, value ->> 10, iif(value ->> 3 = 'running', ?2, null)
    from json_each(?1)`,
  /** ?1 rows [id, status, reason, due], ?2 now. */
  insertStepsEnded: `insert into run (job_id, attempt, status, reason, outcome, ended_at, due, attempts, failures,
      interruptions, snoozes, losses)
    select value ->> 0, 0, value ->> 1, value ->> 2, value ->> 1, ?2, value ->> 3, 0, 0, 0, 0, 0 from json_each(?1)`,
  keepResult: 'insert into result (job_id, value) select ?1, value from result where job_id = ?2',
  workflow: 'select * from workflow where id = ?',
  setWorkflow: `update workflow set status = ?2, ended_at = ?3, open_steps = ?4, fine_steps = ?5, failed_steps = ?6,
      cancelled_steps = ?7
    where id = ?1`,
  steps: `select ${jobColumns}, f.source, f.total, f.max_parallel, f.inserted, f.open_items, f.fine_items, f.failed_items,
      f.cancelled_items
    from ${jobsFrom.all} left join fan f on f.job_id = j.id
    where j.workflow_id = ? and j.group_id is null order by j.id`,

  // ---- being told

  insertNotice: `insert into notice (kind, due, created_at, job_id, workflow_id, status, schedule, detail)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  untoldMissed: `select id, detail from notice where kind = 'missed' and schedule = ?`,
  setNoticeDetail: 'update notice set detail = ?2 where id = ?1',
  notices: `select * from notice where coalesce(look_at, due) <= ?1 order by coalesce(look_at, due), id limit ?2`,
  putOffNotice: 'update notice set look_at = ?2 where id = ?1',
  takeNotice: 'delete from notice where id = ? returning *',
  raiseAlarm: `insert into alarm (subject, raised_at) values (?1, ?2)
    on conflict (subject) do update set raised_at = excluded.raised_at`,
  clearAlarm: 'delete from alarm where subject = ?',
  insertNotification: `insert into notification (job_id, event, subject_job_id, workflow_id, schedule, created_at)
    values (?, ?, ?, ?, ?, ?)`,
  notifications: `select * from notification
    where subject_job_id = ?1 or workflow_id = ?2 or schedule = ?3 or job_id = ?4 order by job_id`,

  // ---- duties

  dueJobs: `select job_id from live where status = 'scheduled' and due <= ?1 order by due, job_id limit ?2`,
  promoteJobs: `update live set status = 'pending' where job_id in (select value from json_each(?))`,
  nextDue: `select min(due) as due from live where status = 'scheduled'`,
  expiredJobs: `select job_id from live where expires_at <= ?1 and status in ('pending', 'scheduled')
    order by expires_at, job_id limit ?2`,
  lostJobs: `select l.job_id, coalesce(w.seen_at, 0) from live l indexed by live_running
      left join worker w on w.id = l.worker_id
    where l.status = 'running' and l.worker_id is not null and (w.id is null or coalesce(l.renewed_at, w.seen_at) + w.lease_ms < ?1
      or l.worker_id in (select value from json_each(?2)))
    order by l.job_id limit ?3`,
  retireWorkers: `update worker set state = 'offline' where state <> 'offline' and seen_at + lease_ms < ?1
    returning id`,
  forgetWorkers: `delete from worker where state = 'offline' and seen_at < ?1
    and not exists (select 1 from live l where l.status = 'running' and l.worker_id = worker.id)`,

  // ---- prune

  /** The longest ended first. All that it looks at lies in the index. */
  oldDone: `select r.job_id from run r where r.status = 'done' and r.ended_at < ?1 and ${standsAlone}
    order by r.ended_at, r.job_id limit ?2`,
  oldUndone: `select r.job_id from run r where r.status in ('failed', 'cancelled', 'skipped') and r.ended_at < ?1
      and ${standsAlone}
    order by r.ended_at, r.job_id limit ?2`,
  /** Of these, those that are still ended, and old: a retry may have come between. */
  stillOld: `select i.value from json_each(?1) i join run r on r.job_id = i.value
    where r.status is not null and r.ended_at < iif(r.status = 'done', ?2, ?3) and ${standsAlone}`,
  oldWorkflows: `select w.id from workflow w where w.ended_at < iif(w.status = 'done', ?1, ?2) and ${nobodyWaits}
    order by w.ended_at, w.id limit ?3`,
  stillOldWorkflows: `select w.id from json_each(?1) i join workflow w on w.id = i.value
    where w.ended_at < iif(w.status = 'done', ?2, ?3) and ${nobodyWaits}`,
  jobsOfWorkflow: 'select id from job where workflow_id = ?',
  pruneWorkflow: 'delete from workflow where id = ?',
  pruneProgress: 'delete from progress where job_id in (select value from json_each(?))',
  pruneFans: 'delete from fan where job_id in (select value from json_each(?))',
  pruneChildEdges: 'delete from edge where child_id in (select value from json_each(?))',
  pruneParentEdges: 'delete from edge where parent_id in (select value from json_each(?))',
  pruneJobs: 'delete from job where id in (select value from json_each(?))',
  pruneRuns: 'delete from run where job_id in (select value from json_each(?))',
  pruneResults: 'delete from result where job_id in (select value from json_each(?))',
  pruneLogs: 'delete from log where job_id in (select value from json_each(?))',
  pruneNotifications: 'delete from notification where job_id in (select value from json_each(?))',
  pruneNotificationsOf: 'delete from notification where subject_job_id in (select value from json_each(?))',
  pruneWorkflowNotifications: 'delete from notification where workflow_id = ?',
  pruneAlarms: 'delete from alarm where raised_at < ?',
  pruneKeysOf: 'delete from unique_key where job_id in (select value from json_each(?))',
  pruneKeys: 'delete from unique_key where expires_at <= ?',
  pruneIdempotency: 'delete from idempotency where created_at <= ?',
  pruneStats: 'delete from stat where minute < ?',

  // ---- reading

  jobs: `select ${jobColumns} from ${jobsFrom.all} where j.id in (select value from json_each(?))`,
  newestJobId: 'select coalesce(max(id), 0) as id from job',
  /** One that is offline runs nothing any more; until its lease ended it may have claimed without a sign. */
  workerGone: `select seen_at + lease_ms as at from worker where id = ? and state = 'offline'`,
  /** The last one above ?1, up to ?2. */
  jobUpTo: 'select id, created_at from job where id > ?1 and id <= ?2 order by id desc limit 1',
  attempts: `select job_id, attempt, worker_id, started_at, ended_at, outcome, exit_code, signal, error from run
    where job_id = ? and attempt > 0 order by attempt`,
  placeOf: `select l.rank, iif(l.status = 'pending', l.turn, 0) as turn, l.due, n.queue from live l join lane n on n.id = l.lane
    where l.job_id = ? and l.status in ('blocked', 'scheduled', 'pending')`,
  countAhead: `select count(*) as count from (
    select 1 from live l where l.status = 'pending' and l.lane in (select id from lane where queue = ?1)
      and (l.rank, l.turn, l.due, l.job_id) < (?2, ?3, ?4, ?5) limit ?6)`,

  // ---- edit

  waiting: `select l.status, l.due, l.expires_at, j.created_at from live l join job j on j.id = l.job_id
    where l.job_id = ? and l.status in ('blocked', 'scheduled', 'pending')`,
  editLive: `update live set lane = ?2, rank = ?3, status = ?4, due = ?5, expires_at = ?6, turn = iif(?7, 0, turn),
      fair_key = iif(?7, null, fair_key), flags = flags & ~${STARTS_ANY_TIME}
    where job_id = ?1`,

  // ---- logs

  isHeld: `select 1 as held from live where job_id = ?1 and attempt = ?2 and worker_id = ?3 and status = 'running'`,
  insertLog: `insert into log (job_id, attempt, start, data) values (?, ?, ?, ?) on conflict do nothing`,
  logEnd: `select start + length(data) as end from log where job_id = ?1 and attempt = ?2 order by start desc limit 1`,
  /** What lies wholly between the two ends that are kept. */
  cutLog: `delete from log where job_id = ?1 and attempt = ?2 and start >= ?3 and start < ?4
    and start + length(data) <= ?4`,
  readLog: `select start, data from log where job_id = ?1 and attempt = ?2 and start + length(data) > ?3
    order by start`,

  // ---- progress

  progress: 'select attempt, fraction, note, checkpoint from progress where job_id = ?',
  setProgress: `insert or replace into progress (job_id, attempt, fraction, note, checkpoint) values (?, ?, ?, ?, ?)`,

  // ---- applications' transactions

  /** ?1 queue, ?2 kind, ?3 name, ?4 priority, ?5 tags, ?6 now, ?7 spec. */
  enlistJob: `insert into job (queue, kind, name, priority, tags, created_at, spec) values (?, ?, ?, ?, ?, ?, ?)
    returning id`,
  enlistLive: `insert into live (job_id, status, lane, rank, due, flags) values (?, 'blocked', 0, ?, ?, ?)`,
  enlistIntake: 'insert into intake (job_id, kind, wish) values (?, ?, ?)',
  completeLive: `delete from live where job_id = ?1 and attempt = ?2 and worker_id = ?3 and status = 'running'
    returning flags, started_at, due, failures, interruptions, snoozes, losses, cancel_requested_at`,
  completeRun: `insert into run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, attempts, failures,
      interruptions, snoozes, losses, cancel_requested_at)
    values (?1, ?2, 'done', 'done', ?3, ?4, ?5, ?6, ?2, ?7, ?8, ?9, ?10, ?11)`,
  completeResult: 'insert into result (job_id, value) values (?, ?)',
  completeKeys: `delete from unique_key where job_id = ? and hold <> 'time'`,
  intake: 'select job_id, kind, wish from intake order by job_id limit ?',
  endIntake: 'delete from intake where job_id = ?',
  unjudged: `select l.flags, l.due, j.queue, j.kind, j.name, j.priority, j.tags, j.spec
    from live l join job j on j.id = l.job_id where l.job_id = ? and l.status = 'blocked' and l.flags & 1024`,
  adoptLive: `update live set lane = ?2, flags = ?3, status = ?4, expires_at = ?5, open_edges = ?6, held_edges = ?7,
      broken_edges = ?8, missed_edges = ?9
    where job_id = ?1`,
  isLive: 'select 1 as live from live where job_id = ?',

  // ---- queues

  /** A group runs without a worker, and takes no place from others. */
  queueCounts: `select n.queue as name, l.status, sum(l.status <> 'running' or l.worker_id is not null) as count,
      min(l.due) as due
    from live l join lane n on n.id = l.lane where ?1 is null or n.queue = ?1 group by n.queue, l.status`,
  queueRows: 'select name, paused_at, max_running from queue where ?1 is null or name = ?1',
  setQueue: 'insert or replace into queue (name, paused_at, max_running) values (?, ?, ?)',

  // ---- workers

  insertWorker: `insert into worker (name, state, attachment, instance_id, lease_ms, registered_at, seen_at, profile)
    values (?1, 'online', ?2, ?3, ?4, ?5, ?5, ?6)`,
  workers: `select w.id, w.name, w.state, w.attachment, w.instance_id, w.lease_ms, w.registered_at, w.seen_at, w.profile,
      (select count(*) from live l where l.status = 'running' and l.worker_id = w.id) as running
    from worker w where ?1 is null or w.id = ?1 order by w.id`,
  /** Kept in the profile too: an offline worker that comes back is still asked to go. */
  drainWorker: `update worker set state = iif(state = 'offline', state, 'draining'),
      profile = json_set(profile, '$.draining', json('true'))
    where id = ?`,
  leaveWorker: `update worker set state = 'offline' where id = ?`,

  // ---- statistics and operations

  stat: `select count, wait, run from stat where minute = ? and queue = ? and outcome = ? and instance_id = ?`,
  setStat: `insert or replace into stat (minute, queue, outcome, instance_id, count, wait, run)
    values (?, ?, ?, ?, ?, ?, ?)`,
  stats: `select minute, queue, outcome, instance_id, count, wait, run from stat where minute >= ?1 and minute < ?2
    order by minute, queue, outcome, instance_id`,

  insertOperation: `insert into operation (action, filter, status, total, created_at)
    values (?1, ?2, 'running', ?3, ?4)`,
  operation: 'select * from operation where id = ?',
  openOperations: `select * from operation where status = 'running' order by id`,
  advanceOperation: `update operation set cursor = ?3, changed = changed + ?4, skipped = skipped + ?5, status = ?6,
      ended_at = iif(?6 = 'running', null, ?7)
    where id = ?1 and cursor is ?2 and status = 'running'`,

  // ---- instances and their duties

  keepDuty: `update leader set expires_at = ?4
    where duty = ?1 and instance_id = ?2 and term = ?3 and expires_at > ?5`,
  takeDuty: `insert into leader (duty, number, instance_id, term, expires_at, locked) values (?1, ?2, ?3, 1, ?4, 0)
    on conflict (duty) do update
    set instance_id = excluded.instance_id, term = leader.term + 1, expires_at = excluded.expires_at
    where leader.expires_at <= ?5`,
  resign: 'update leader set expires_at = ?2 where instance_id = ?1 and expires_at > ?2',
  /** The process that owns the file is the only one, so whoever led before is gone. */
  endTerms: 'update leader set expires_at = 0',
  duty: 'select * from leader where duty = ?',
  duties: 'select * from leader order by duty',

  beatInstance: `insert into instance (id, host, pid, roles, version, url, beat_ms, started_at, seen_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
    on conflict (id) do update set host = excluded.host, pid = excluded.pid, roles = excluded.roles,
      version = excluded.version, url = excluded.url, beat_ms = excluded.beat_ms, seen_at = excluded.seen_at`,
  instances: 'select * from instance order by started_at, id',
  leaveInstance: 'delete from instance where id = ?',
  forgetInstances: 'delete from instance where seen_at < ?',
};
