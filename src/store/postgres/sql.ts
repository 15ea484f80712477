/**
 * Every statement of this store that is not put together at run time, as a function of the quoted schema. Sets come in
 * as arrays (`unnest`) or, off the hot path, as JSON: one call, one plan, and no limit on how many. Each statement asks
 * for the present moment once, at its start.
 */

import type { Statement } from './database.ts';
import { SESSION_MARK } from './direct-session.ts';
import { FLAG, LINKED } from './flags.ts';
import { countersOf, edgeState, flagsOf, graphTexts, lineOfJob } from './graph/statements.ts';
import { tellOfSuccess, toldColumns } from './graph/tell-of-success.ts';
import { noticeTexts } from './notice-statements.ts';
import { scheduleTexts } from './schedules/statements.ts';

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
const jobColumns = `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, j.spec, j.created_at,
  coalesce(l.status, r.status) as status, coalesce(l.attempt, r.attempts) as attempt,
  coalesce(l.failures, r.failures) as failures, coalesce(l.interruptions, r.interruptions) as interruptions,
  coalesce(l.snoozes, r.snoozes) as snoozes, coalesce(l.losses, r.losses) as losses, coalesce(l.due, r.due) as due,
  case when l.job_id is null then r.started_at else l.started_at end as started_at,
  case when l.job_id is null then r.ended_at end as done_at,
  case when l.job_id is null then r.worker_id else l.worker_id end as worker_id,
  case when l.status = 'running' then coalesce(l.renewed_at, w.seen_at) end as heard_at,
  case when l.job_id is null then r.cancel_requested_at else l.cancel_requested_at end as cancel_requested_at,
  case when l.status <> 'running' then l.expires_at end as expires_at, r.exit_code, r.signal, r.error, r.reason, x.value as result,
  p.attempt as progress_attempt, p.fraction, p.note,
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of, n.depends_on`;

/** What a job's replacement decides anew. */
const REPLACED = FLAG.holdsKey | FLAG.tellsFailure | FLAG.tellsSuccess | FLAG.startsAtOnce | FLAG.startsAnyTime;

/** The order in which jobs are taken. */
const order = 'l.rank, l.turn, l.due, l.job_id';

/** A duty's row from the alias l, and whether its term is over by t, in numbers: on any connection, whatever its time zone. */
const leaderColumns = `l.duty, l.number, l.instance_id, l.term, l.locked, l.expires_at <= t.now as over,
  round(extract(epoch from l.expires_at) * 1000)::bigint as expires_at`;

/** Whether this is the session that was marked so, and not one that a pooler lends to everybody. */
const ownSession = (mark: string) => `coalesce(current_setting('${SESSION_MARK}', true) = ${mark}, false)`;

/** Where a list of jobs is read from. */
export function jobsFrom(s: string): string {
  return `${jobColumns}
    from ${s}.job j left join ${s}.live l on l.job_id = j.id ${lastRun(s)}
    left join ${s}.worker w on w.id = l.worker_id left join ${s}.result x on x.job_id = j.id
    left join ${s}.progress p on p.job_id = j.id
    left join lateral (
      select json_agg(json_build_array(e.parent_id, e.condition) order by e.parent_id) as depends_on
      from ${s}.edge e where e.child_id = j.id) n on true`;
}

/** Beside an unfinished job stands its last attempt that left an error, beside an ended one the row that ended it. */
export function lastRun(s: string): string {
  return `left join lateral (
    select * from ${s}.run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1) r on true`;
}

export type Sql = Readonly<Record<keyof ReturnType<typeof texts>, Statement>>;

/** Each statement under its name: that is what a connection prepares it as. */
export function statements(schema: string): Sql {
  const named = Object.entries(texts(`"${schema}"`)).map(([name, text]) => [name, { name, text }]);
  return Object.fromEntries(named) as Sql;
}

function texts(s: string) {
  const now = `t as materialized (select ${s}.now() as now)`;
  /** Cheaper than an instant, for us and for the server. */
  const epochMs = (instant: string) => `round(date_part('epoch', ${instant}) * 1000)`;

  /** Lets go of keys of the jobs in `jobs`, in the order in which everybody locks keys. */
  const freeKeys = (jobs: string, condition: string) => `freed as (
      delete from ${s}.unique_key k using (
        select u.key from ${jobs} g join ${s}.unique_key u on u.job_id = g.job_id
        where ${condition} order by u.key collate "C" for update of u) f
      where k.key = f.key)`;

  /**
   * From `picked` (ctids that are locked by now) to the claimed jobs. Going by ctid, the update sees only what its
   * snapshot saw: a row that an edit has rewritten since then is missed, never run with its old payload. The answer
   * is one row of columns: a message per job would cost as much as the claim. It is there even if nothing was taken, to
   * tell the worker's state and how many were wanted, so that a claim that missed some tries again.
   */
  const takePicked = (wanted: string, startedAt = 't.now') => `taken as (
      update ${s}.live l
      set status = 'running', attempt = l.attempt + 1, worker_id = $1, claim_seq = $2::bigint, started_at = ${startedAt},
        renewed_at = case when $2::bigint is null then t.now end
      from t where l.ctid = any(array(select ctid from picked))
      returning l.job_id, l.attempt, l.failures, l.due, l.turn, l.lane, l.flags),
    ${freeKeys('taken', `g.flags & 8 <> 0 and u.hold = 'pending'`)}
    select (select state from ${s}.worker where id = $1) as state, (${wanted}) as wanted,
      (select ${epochMs('now')} from t) as now, array_agg(k.job_id) as ids, array_agg(k.attempt) as attempts,
      array_agg(k.failures) as failures, array_agg(${epochMs('k.due')}) as dues, array_agg(k.turn) as turns,
      array_agg(k.lane) as lanes, array_agg(j.priority) as priorities, json_agg(j.name) as names,
      json_agg(j.step_key) as steps, json_agg(j.tags) as tags, json_agg(j.spec) as specs, array_agg(k.flags) as flags,
      array_agg(coalesce(j.workflow_id, 0)) as workflows, array_agg(coalesce(j.group_id, 0)) as groups,
      array_agg(coalesce(j.group_index, 0)) as indexes
    from taken k join ${s}.job j on j.id = k.job_id`;
  /** Whether a job may wait at a worker, if its lane may. */
  const canWait = (row: string) => `${row}.failures = 0 and ${row}.flags & ${FLAG.startsAtOnce} = 0`;
  const mayClaim = `exists (select 1 from ${s}.worker where id = $1 and state = 'online')`;
  const isOpen = (lane: string, limited: string) => `not exists (
      select 1 from ${s}.lane n join ${s}.queue q on q.name = n.queue
      where n.id = ${lane} and (q.paused_at is not null or (${limited} and q.max_running is not null)))`;

  /** Whether so many jobs of the queue `q` run that no other could start now. */
  const isFull = `q.max_running <= (
          select count(*) from ${s}.live r join ${s}.lane k on k.id = r.lane
          where r.status = 'running' and r.flags & 2 = 0 and k.queue = q.name)`;
  /** Lanes that nothing is taken from now. Looked up once: for each of many lanes it would cost more than the lane's head. */
  const closed = (isClosed: string) => `closed as materialized (
        select n.id from ${s}.queue q join ${s}.lane n on n.queue = q.name
        where q.paused_at is not null or ${isClosed})`;
  /**
   * `tops`: the heads of open `lanes` (as u), of which the $4 most urgent matter: a lane whose head is not among them has none
   * of the $4 most urgent jobs. `bound`: no job beyond the last of these is among them either, so that lanes are not
   * read further.
   */
  const tops = (lanes: string, isClosed: string) => `${closed(isClosed)},
      tops as materialized (
        select u.*, c.rank, c.turn, c.due, c.job_id from ${lanes} cross join lateral (
          select l.rank, l.turn, l.due, l.job_id from ${s}.live l
          where l.status = 'pending' and l.lane = u.lane order by ${order} limit 1) c
        where u.lane not in (select id from closed) and ${mayClaim}
        order by c.rank, c.turn, c.due, c.job_id limit $4),
      bound as materialized (
        select * from (select rank, turn, due, job_id from tops order by rank, turn, due, job_id offset $4 - 1) last
        union all select 2147483647, 9223372036854775807, 'infinity'::timestamptz, 9223372036854775807
        where (select count(*) from tops) < $4)`;
  const withinBound = '(l.rank, l.turn, l.due, l.job_id) <= (b.rank, b.turn, b.due, b.job_id)';

  /**
   * Whether a live row `l` is still the attempt that `i` speaks of. Written so that the index of running jobs, where one
   * worker's jobs are one heap of equal entries, is of no use to the planner: the primary key has to do it.
   */
  const isHeld = `l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id and l.status || '' = 'running'`;

  /** When a job that was claimed ahead has started, as its worker told: never in the future. */
  const began = (ms: string) => `least(to_timestamp(${ms} / 1000.0)::timestamptz(3), (select now from t))`;

  /** Ends jobs as done, without letting go of their keys. A condition with a constant would make the planner expect no rows. */
  const endDone = (condition: string) => `with ${now},
      input as materialized (
        select i.*, 0 as none from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::jsonb[], $6::float8[])
          i(job_id, attempt, worker_id, exit_code, result, began_at)),
      gone as (
        delete from ${s}.live l using input i
        where ${isHeld} and ${condition}
        returning l.job_id, l.attempt, l.lane, l.due, l.failures, l.interruptions, l.snoozes, l.losses, l.flags, l.worker_id,
          coalesce(l.started_at, ${began('i.began_at')}) as started_at, l.cancel_requested_at, i.exit_code, i.result),
      runs as (
        insert into ${s}.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, exit_code, attempts,
          failures, interruptions, snoozes, losses, cancel_requested_at, told)
        select job_id, attempt, 'done', 'done', worker_id, started_at, t.now, due, exit_code, attempt,
          failures, interruptions, snoozes, losses, cancel_requested_at, case when flags & 1 <> 0 then true end
        from gone, t),
      results as (
        insert into ${s}.result (job_id, value) select job_id, result from gone where result is not null)`;

  /** One row of columns: a message per job would cost as much as its end. */
  const endedColumns = `(select ${epochMs('now')} from t) as now, array_agg(job_id) as ids, array_agg(attempt) as attempts,
        array_agg(worker_id) as workers, array_agg(lane) as lanes, array_agg(${epochMs('due')}) as dues,
        array_agg(${epochMs('started_at')}) as starts`;

  /** $1 JSON rows: fences with what is to follow; `held` are those that still match, and are locked. */
  const fences = `job_id bigint, status text, attempt integer, worker_id integer, cancel_requested boolean,
    failures integer, interruptions integer, snoozes integer, losses integer`;
  const sameCounters = (row: string) => `(${row}.cancel_requested_at is not null) = i.cancel_requested
      and ${row}.failures = i.failures and ${row}.interruptions = i.interruptions
      and ${row}.snoozes = i.snoozes and ${row}.losses = i.losses`;
  const matchesEnded = `r.job_id = i.job_id and r.status = i.status and r.attempts = i.attempt and ${sameCounters('r')}`;

  /** The parent of an edge `e` has not ended, or is retried in the same call, before `h`. */
  const runsAgain = `(exists (select 1 from ${s}.live p where p.job_id = e.parent_id)
          or exists (select 1 from held p where p.job_id = e.parent_id and p.place < h.place))`;
  /** Whether somebody unfinished depends on it. */
  const isNeeded = (id: string) => `exists (
      select 1 from ${s}.edge e join ${s}.live l on l.job_id = e.child_id where e.parent_id = ${id})`;
  /** Steps of workflows are deleted with their workflow. */
  const standsAlone = (id: string) => `not ${isNeeded(id)}
      and not exists (select 1 from ${s}.job j where j.id = ${id} and j.workflow_id is not null)`;

  /** When a job is due that is submitted at t. */
  const dueOf = (runAt: string, delayMs: string) => `greatest(t.now,
          coalesce(to_timestamp(${runAt} / 1000.0), t.now + ${delayMs} * interval '1 ms', t.now))::timestamptz(3)`;
  /**
   * New jobs that differ in their spec alone, in `input`, with their rows in `job`. What is alike is worked out once, in
   * `alike`, and no row carries it along.
   */
  const newAlike = `${now},
      alike as materialized (
        select t.now::timestamptz(3) as now, d.due, case when d.due > t.now then 'scheduled' else 'pending' end as status,
          (d.due + $10::float8 * interval '1 ms')::timestamptz(3) as expires_at
        from t, lateral (select ${dueOf('$8::float8', '$9::float8')} as due) d),
      input as materialized (
        select nextval('${s}.job_id') as id, i.spec, i.place from unnest($6::jsonb[]) with ordinality i(spec, place)),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec)
        select i.id, $1::text, $2::text, $3::text, $4::smallint, $5::text[], a.now, i.spec from alike a, input i)`;
  const newIds = `array_agg(id order by place) as ids, (select ${epochMs('now')} from t) as now,
        (select array_agg(name) from ${s}.fair_queue) as fair`;

  return {
    now: `select ${s}.now() as now`,
    /** `folds`: there is a collation that knows the cases of all letters, whatever the database's own knows. */
    meta: `select lock_space, exists (
        select 1 from pg_collation where collname = 'und-x-icu' and collnamespace = 'pg_catalog'::regnamespace
          and collencoding in (-1, pg_char_to_encoding(getdatabaseencoding()))) as folds
      from ${s}.meta`,

    // ---- lanes

    /** Lanes that are new, in the order of their ids, and all queues that have a limit or take turns. */
    lanesAfter: `select 'lane' as what, id, key as name from ${s}.lane where id > $1
      union all select 'limited', null, name from ${s}.queue where max_running is not null
      union all select 'fair', null, name from ${s}.fair_queue
      order by id`,
    /** Lanes are made one after the other: then ids are seen in their order, and asking for later ones misses none. */
    lockLanes: `lock table ${s}.lane in share row exclusive mode`,
    insertLanes: `insert into ${s}.lane (key, queue)
      select * from unnest($1::text[], $2::text[]) i(key, queue)
      where not exists (select 1 from ${s}.lane n where n.key = i.key)`,
    lanesByKey: `select id, key from ${s}.lane where key = any($1::text[])`,

    // ---- insert

    /** Ids are given in the order of the rows. */
    insertJobs: `with ${now},
      input as materialized (
        select nextval('${s}.job_id') as id, i.*, ${dueOf('i.run_at', 'i.delay_ms')} as due
        from t, unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::jsonb[], $7::integer[],
          $8::float8[], $9::float8[], $10::float8[], $11::integer[]) with ordinality
          i(queue, kind, name, priority, tags, spec, lane, run_at, delay_ms, start_timeout_ms, flags, place)),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec)
        select id, queue, kind, name, priority, coalesce(tags::text[], '{}'), t.now, spec from input, t),
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, expires_at, flags)
        select id, case when due > t.now then 'scheduled' else 'pending' end, lane, -priority::integer, due,
          due + start_timeout_ms * interval '1 ms', flags
        from input, t)
      select ${newIds} from input`,
    insertAlike: `with ${newAlike},
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, expires_at, flags)
        select i.id, a.status, $7::integer, -$4::smallint::integer, a.due, a.expires_at, $11::integer from alike a, input i)
      select ${newIds} from input`,
    /**
     * The same while worker $12 waits by its claim $13 for up to $14 jobs of lanes $15: those that are due start as running
     * if nothing waits in any of these lanes, and no lane beyond $16 is there, which this process would not know.
     */
    insertAndClaim: `with ${newAlike},
      room as materialized (
        select case when exists (select 1 from ${s}.worker where id = $12 and state = 'online')
          and ${isOpen('$7::integer', 'true')}
          and not exists (select 1 from ${s}.lane where id > $16)
          and not exists (
            select 1 from unnest($15::integer[]) u(lane) cross join lateral (
              select 1 from ${s}.live l where l.status = 'pending' and l.lane = u.lane order by ${order} limit 1) c)
          then $14::integer else 0 end as n),
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, expires_at, flags, attempt, worker_id, claim_seq, started_at)
        select i.id, case when c.starts then 'running' else a.status end, $7::integer,
          -$4::smallint::integer, a.due, a.expires_at, $11::integer, c.starts::integer,
          case when c.starts then $12::integer end, case when c.starts then $13::bigint end, case when c.starts then a.now end
        from alike a, room, input i, lateral (select a.due <= a.now and i.place <= room.n as starts) c)
      select ${newIds}, (select n from room) as room from input`,

    keyHolders: `select k.key, k.job_id from ${s}.unique_key k
      where k.key = any($1::text[]) and (k.expires_at is null or k.expires_at > ${s}.now()) order by k.key collate "C"`,
    lockKeys: `select key, job_id from ${s}.unique_key where key = any($1::text[]) order by key collate "C" for update`,
    /**
     * Locks keys that are there and makes those that are not, for nobody yet, in one pass: whoever locked the first
     * kind and then made the second would wait for one who does it the other way round.
     */
    makeKeys: `insert into ${s}.unique_key as k (key, job_id, hold)
      select i.key, 0, 'pending' from unnest($1::text[]) i(key) order by i.key collate "C"
      on conflict (key) do update set key = excluded.key
      returning k.key, case when k.expires_at <= ${s}.now() then 0 else k.job_id end as job_id`,
    giveKeys: `with ${now}
      update ${s}.unique_key k set job_id = i.job_id, hold = i.hold, expires_at = t.now + i.hold_ms * interval '1 ms'
      from t, unnest($1::text[], $2::bigint[], $3::text[], $4::float8[]) i(key, job_id, hold, hold_ms)
      where k.key = i.key`,
    replaceJob: `update ${s}.job set queue = $2, kind = $3, name = $4, priority = $5, tags = $6, spec = $7 where id = $1`,
    replaceLive: `with ${now}
      update ${s}.live l
      set lane = $2, rank = $3, turn = 0, fair_key = null, due = d.due, flags = l.flags & ~${REPLACED} | $7::integer,
        status = case when d.due > t.now then 'scheduled' else 'pending' end,
        expires_at = d.due + $6::float8 * interval '1 ms', failures = 0, interruptions = 0, snoozes = 0, losses = 0
      from t, lateral (select greatest(t.now,
        coalesce(to_timestamp($4::float8 / 1000.0), t.now + $5::float8 * interval '1 ms', t.now)) as due) d
      where l.job_id = $1`,

    /** A twin that is at work waits here for the first to commit, and then finds its row. */
    beginIdempotent: `with ${now}
      insert into ${s}.idempotency as k (key, fingerprint, answer, created_at) select $1, $2, '[]', t.now from t
      on conflict (key) do update
      set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at
      where k.created_at + $3::float8 * interval '1 ms' <= excluded.created_at
      returning 1`,
    idempotentAnswer: `select fingerprint, answer from ${s}.idempotency where key = $1`,
    endIdempotent: `update ${s}.idempotency set answer = $2 where key = $1`,
    dropIdempotent: `delete from ${s}.idempotency where key = $1`,

    // ---- fair turns

    addFairQueues: `insert into ${s}.fair_queue (name) select name from unnest($1::text[]) i(name)
      order by name collate "C" on conflict do nothing`,
    /** By id, as all who lock several jobs do. */
    lockPending: `select job_id from ${s}.live where job_id = any($1::bigint[]) and status = 'pending' order by job_id for update`,
    /** Of jobs $1, those in queues $2 that are claimable: last in line until they are given their turns. */
    parkTurns: `update ${s}.live l set turn = 9007199254740991, fair_key = null from ${s}.job j
      where l.job_id = any($1::bigint[]) and l.status = 'pending' and j.id = l.job_id and j.queue = any($2::text[])
      returning l.job_id, j.queue, j.priority, coalesce(j.spec ->> 'fair_key', '') as fair_key, l.due`,
    /** The last lock that anybody takes. What stands is read in the next statement. */
    lockFairQueues: `select q.name, array(select n.id from ${s}.lane n where n.queue = q.name) as lanes
      from ${s}.fair_queue q where q.name = any($1::text[]) order by q.name collate "C" for update of q`,
    /** $1 places, $2 lanes, $3 ranks, $4 keys. */
    lastTurns: `select i.place, max(c.turn) as turn
      from unnest($1::integer[], $2::integer[], $3::integer[], $4::text[]) i(place, lane, rank, fair_key)
        cross join lateral (
          select l.turn from ${s}.live l
          where l.status = 'pending' and l.lane = i.lane and l.rank = i.rank and l.fair_key = i.fair_key
          order by l.turn desc limit 1) c
      group by i.place`,
    presentTurns: `select i.place, min(c.turn) as turn
      from unnest($1::integer[], $2::integer[], $3::integer[]) i(place, lane, rank) cross join lateral (
          select l.turn from ${s}.live l where l.status = 'pending' and l.lane = i.lane and l.rank = i.rank
          order by l.turn, l.due, l.job_id limit 1) c
      group by i.place`,
    setTurns: `update ${s}.live l set turn = i.turn, fair_key = i.fair_key
      from unnest($1::bigint[], $2::bigint[], $3::text[]) i(job_id, turn, fair_key) where l.job_id = i.job_id`,

    // ---- claim

    workerState: `select state from ${s}.worker where id = $1`,
    /** $3 lanes, $4 limit. Which lanes the most urgent jobs are in; then as many from each, whoever else is taking some. */
    claimMerged: `with ${now}, ${tops('unnest($3::integer[]) u(lane)', 'q.max_running is not null')},
      heads as materialized (
        select m.lane, count(*) as n from (
          select c.* from bound b, tops cross join lateral (
            select l.lane, l.rank, l.turn, l.due, l.job_id from ${s}.live l
            where l.status = 'pending' and l.lane = tops.lane and ${withinBound} order by ${order} limit $4) c
          order by c.rank, c.turn, c.due, c.job_id limit $4) m
        group by m.lane),
      picked as materialized (
        select p.ctid from heads h cross join lateral (
          select l.ctid from ${s}.live l where l.status = 'pending' and l.lane = h.lane
          order by ${order} limit h.n for update skip locked) p),
      ${takePicked('select coalesce(sum(n), 0)::integer from heads')}`,
    /** $3 lanes, $4 how many from each, $5 whether to leave out queues that have a limit. */
    claimPlanned: `with ${now},
      picked as materialized (
        select p.ctid from unnest($3::integer[], $4::integer[]) h(lane, n) cross join lateral (
          select l.ctid from ${s}.live l where l.status = 'pending' and l.lane = h.lane
          order by ${order} limit h.n for update skip locked) p
        where ${isOpen('h.lane', '$5')} and ${mayClaim}),
      ${takePicked('select count(*)::integer from picked')}`,
    /**
     * $3 lanes, $4 limit, $5 whether jobs of the lane may wait at a worker. As claimMerged, but only up to the first job that
     * may not, so that nobody is overtaken.
     */
    claimAhead: `with ${now}, ${tops('unnest($3::integer[], $5::boolean[]) u(lane, may)', isFull)},
      best as materialized (
        select c.*, tops.may, row_number() over (order by c.rank, c.turn, c.due, c.job_id) as place
        from bound b, tops cross join lateral (
          select l.lane, l.rank, l.turn, l.due, l.job_id, l.failures, l.flags from ${s}.live l
          where l.status = 'pending' and l.lane = tops.lane and ${withinBound} order by ${order} limit $4) c
        order by c.rank, c.turn, c.due, c.job_id limit $4),
      heads as materialized (
        select lane, count(*) as n from best
        where place < coalesce((select min(place) from best where not (may and ${canWait('best')})), $4 + 1)
        group by lane),
      picked as materialized (
        select p.ctid from heads h cross join lateral (
          select l.ctid from ${s}.live l where l.status = 'pending' and l.lane = h.lane and ${canWait('l')}
          order by ${order} limit h.n for update skip locked) p),
      ${takePicked('select coalesce(sum(n), 0)::integer from heads', 'null')}`,
    /** The same for one lane, whose jobs may wait. */
    claimAheadOne: `with ${now},
      found as materialized (
        select p.*, row_number() over () as place from unnest($3::integer[]) h(lane) cross join lateral (
          select l.ctid, l.failures, l.flags from ${s}.live l where l.status = 'pending' and l.lane = h.lane
          order by ${order} limit $4 for update skip locked) p
        where ${isOpen('h.lane', 'true')} and ${mayClaim}),
      picked as materialized (
        select ctid from found
        where place < coalesce((select min(place) from found where not (${canWait('found')})), $4 + 1)),
      ${takePicked('select count(*)::integer from picked', 'null')}`,
    /** The queue's row is the lock under which its running jobs are counted, in the next statement. */
    lockQueues: `select name, max_running from ${s}.queue where name = any($1::text[]) and max_running is not null
      order by name collate "C" for update`,
    countRunning: `select n.queue, count(*) as count from ${s}.live l join ${s}.lane n on n.id = l.lane
      where l.status = 'running' and l.flags & 2 = 0 and n.queue = any($1::text[]) group by n.queue`,
    /** $1 lanes, $2 how many to look at in each. */
    laneHeads: `select c.* from unnest($1::integer[], $2::integer[]) u(lane, n) cross join lateral (
        select l.lane, l.rank, l.turn, l.due, l.job_id from ${s}.live l
        where l.status = 'pending' and l.lane = u.lane order by ${order} limit u.n) c
      where ${isOpen('u.lane', 'false')} order by c.rank, c.turn, c.due, c.job_id`,
    /** By the server's own clock: this is about processes, not jobs. */
    markWaiting: `insert into ${s}.waiter (instance_id, until) values ($1, clock_timestamp() + $2::float8 * interval '1 ms')
      on conflict (instance_id) do update set until = excluded.until`,
    forgetWaiting: `delete from ${s}.waiter where instance_id = $1 or until < clock_timestamp() - interval '1 hour'`,

    // ---- heartbeat

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

    // ---- settle

    /** Rows are found by the primary key, sorted by the caller; what is deleted carries its report along. */
    settle: `${endDone(`l.flags & ${LINKED} = i.none`)},
      ${freeKeys('gone', `g.flags & 8 <> 0 and u.hold <> 'time'`)}
      select ${endedColumns} from gone`,
    /**
     * The others; their keys are let go of at the end, after all jobs that have to be locked. Children for whom a success
     * can only be good news hear of it here.
     */
    settleLinked: `${endDone('true')},
      ${tellOfSuccess(s)}
      select ${endedColumns}, array_agg(flags) as flags, ${toldColumns} from gone`,
    settledBefore: `select r.job_id, r.attempt, r.worker_id, j.queue, r.due, r.started_at, r.ended_at
      from ${s}.run r join ${s}.job j on j.id = r.job_id where r.job_id = any($1::bigint[]) and r.status = 'done'`,

    // ---- changes

    /** One alone; for the order of several see graph/locks.ts. */
    lockWaiting: `select job_id from ${s}.live where job_id = $1 and status <> 'running' for update`,
    /** In a later statement than the lock, so that all it reads is what the lock protects. */
    change: `with ${now},
      held as materialized (
        select i.*, l.due, l.started_at, l.flags, l.cancel_requested_at, l.worker_id as held_by
        from jsonb_to_recordset($1::jsonb) i(${fences}, kind text, seen_at float8, to_failures integer,
          to_interruptions integer, to_snoozes integer, to_losses integer, delay_ms float8, to_status text, reason text,
          outcome text, exit_code integer, signal text, error text, quiet boolean)
        join ${s}.live l on l.job_id = i.job_id left join ${s}.worker w on w.id = l.worker_id
        where l.status = i.status and l.attempt = i.attempt
          and (l.status <> 'running' or l.worker_id is not distinct from i.worker_id)
          and ${sameCounters('l')} and (i.seen_at is null or i.seen_at = coalesce(${epochMs('w.seen_at')}, 0))),
      flagged as (
        update ${s}.live l set cancel_requested_at = t.now, flags = case when h.quiet then l.flags | 64 else l.flags end
        from held h, t where l.job_id = h.job_id and h.kind = 'flag'),
      woken as (
        update ${s}.fan f set due = true from held h
        where f.job_id = h.job_id and h.kind = 'flag' and h.flags & 2 <> 0),
      requeued as (
        update ${s}.live l
        set status = h.to_status, due = case when h.delay_ms = 0 then l.due else t.now + h.delay_ms * interval '1 ms' end,
          failures = h.to_failures, interruptions = h.to_interruptions, snoozes = h.to_snoozes, losses = h.to_losses,
          claim_seq = null, renewed_at = null, expires_at = case when h.outcome = 'returned' then l.expires_at end
        from held h, t where l.job_id = h.job_id and h.kind = 'requeue'),
      ended as (
        delete from ${s}.live l using held h where l.job_id = h.job_id and h.kind = 'end'),
      recorded as (
        insert into ${s}.run (job_id, attempt, outcome, worker_id, started_at, ended_at, exit_code, signal, error)
        select job_id, attempt, outcome, held_by, coalesce(started_at, t.now), t.now, exit_code, signal, error
        from held, t where kind = 'requeue'),
      finished as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code,
          signal, error, attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
        select job_id, case when outcome is null then 0 else attempt end, to_status, reason,
          coalesce(outcome, to_status), held_by, started_at, t.now, due, exit_code, signal, error, attempt, to_failures,
          to_interruptions, to_snoozes, to_losses, cancel_requested_at
        from held, t where kind = 'end')
      select h.job_id, h.kind, h.flags, t.now from held h, t`,

    reopenConflicts: `select j.id, k.job_id as holder, k.key
      from jsonb_to_recordset($1::jsonb) i(${fences}) join ${s}.run r on ${matchesEnded}
      join ${s}.job j on j.id = r.job_id join ${s}.unique_key k on k.key = j.spec ->> 'unique_key'
      where k.job_id <> j.id and (k.expires_at is null or k.expires_at > ${s}.now()) limit 1`,
    /** An end that was no attempt's is taken away; an attempt's record stays, but no longer as the end. */
    reopen: `with ${now},
      input as materialized (
        select * from jsonb_to_recordset($1::jsonb) i(${fences}, to_failures integer, to_interruptions integer,
          to_snoozes integer, to_losses integer, lane integer, start_timeout_ms float8, place integer)),
      held as materialized (
        select i.*, r.attempt as run_attempt, r.worker_id as held_by, r.started_at
        from input i join ${s}.run r on ${matchesEnded}),
      dropped as (
        delete from ${s}.run r using held h where r.job_id = h.job_id and r.attempt = 0 and h.run_attempt = 0),
      cleared as (
        update ${s}.run r set status = null, reason = null, due = null, attempts = null, failures = null,
          interruptions = null, snoozes = null, losses = null, cancel_requested_at = null
        from held h where r.job_id = h.job_id and r.attempt = h.run_attempt and h.run_attempt > 0),
      opened as (
        update ${s}.edge e set state = 'open' from held h
        where e.child_id = h.job_id and e.state <> 'open' and ${runsAgain}),
      results as (
        delete from ${s}.result x using held h where x.job_id = h.job_id),
      lives as (
        insert into ${s}.live (job_id, status, lane, rank, due, attempt, failures, interruptions, snoozes, losses,
          worker_id, started_at, expires_at, flags, line, open_edges, held_edges, broken_edges, missed_edges)
        select h.job_id, b.status, h.lane, -j.priority::integer, t.now, h.attempt, h.to_failures, h.to_interruptions,
          h.to_snoozes, h.to_losses, h.held_by, case when b.status = 'running' then t.now else h.started_at end,
          case when b.status = 'pending' then t.now + h.start_timeout_ms * interval '1 ms' end,
          ${flagsOf(s)}, ${lineOfJob}, n.open, n.held, n.broken, n.missed
        from t, held h join ${s}.job j on j.id = h.job_id left join ${s}.fan g on g.job_id = h.job_id,
          ${countersOf(s, 'h.job_id', `case when ${runsAgain} then 'open' else ${edgeState(s)} end`)} n,
          lateral (select case when n.open > 0 then 'blocked' when g.job_id is not null then 'running'
            else 'pending' end as status) b
        returning job_id, status, flags),
      woken as (
        update ${s}.fan f set due = true from lives l where f.job_id = l.job_id and l.status = 'running')
      select job_id, status, flags from lives`,
    specs: `select id, queue, kind, name, priority, tags, spec from ${s}.job where id = any($1::bigint[])`,

    // ---- edit

    editJob: `update ${s}.job set queue = $2, priority = $3, tags = $4, spec = $5 where id = $1`,
    /** Rewritten whatever was edited: a claim that began before must miss the row, not run the old job. */
    editLive: `with ${now}
      update ${s}.live l
      set lane = $2, rank = $3, due = coalesce(d.moved, l.due), turn = case when $6 then 0 else l.turn end,
        fair_key = case when not $6 then l.fair_key end, flags = l.flags & ~${FLAG.startsAtOnce | FLAG.startsAnyTime} | $7::integer,
        status = case when d.moved is null or l.status = 'blocked' then l.status
          when d.moved > t.now then 'scheduled' else 'pending' end,
        expires_at = case when d.moved is null or l.expires_at is null then l.expires_at
          else d.moved + $5::float8 * interval '1 ms' end
      from t, ${s}.job j, lateral (select case when $4::float8 is not null
        then greatest(to_timestamp($4::float8 / 1000.0), j.created_at) end as moved) d
      where l.job_id = $1 and j.id = l.job_id`,

    // ---- duties

    nextDue: `select (select min(due) from ${s}.live where status = 'scheduled') as due, ${s}.now() as now,
      (select array_agg(name) from ${s}.fair_queue) as fair`,
    promote: `with ${now}
      update ${s}.live l set status = 'pending'
      where l.ctid = any(array(
        select l.ctid from ${s}.live l, t where l.status = 'scheduled' and l.due <= t.now
        order by l.due, l.job_id limit $1 for update of l skip locked))
      returning l.job_id`,
    expiredJobs: `select job_id from ${s}.live where expires_at <= (select ${s}.now())
      and status in ('pending', 'scheduled') order by expires_at, job_id limit $1`,
    lostJobs: `with ${now}
      select l.job_id, coalesce(${epochMs('w.seen_at')}, 0) as seen_at
      from t, ${s}.live l left join ${s}.worker w on w.id = l.worker_id
      where l.status = 'running' and l.flags & 2 = 0 and (l.worker_id = any($2::integer[]) or w.id is null
        or coalesce(l.renewed_at, w.seen_at) + w.lease_ms * interval '1 ms' < t.now)
      order by l.job_id limit $1`,
    /** The lock is held by whichever session of the worker's process is alive; two-part keys have objsubid 2. */
    unlockedWorkers: `select w.id, w.seen_at,
        (extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint as up_ms
      from (select 1) one left join ${s}.worker w on w.attachment = 'direct' and w.state <> 'offline' and not exists (
        select 1 from pg_locks k join pg_database d on d.oid = k.database
        where d.datname = current_database() and k.locktype = 'advisory' and k.granted and k.objsubid = 2
          and k.classid = (select lock_space from ${s}.meta)::oid and k.objid = w.id::oid)`,
    retireWorkers: `with ${now}
      update ${s}.worker w set state = 'offline' from t
      where w.state <> 'offline' and w.seen_at + w.lease_ms * interval '1 ms' < t.now returning w.id`,
    forgetWorkers: `delete from ${s}.worker w
      where w.state = 'offline' and w.seen_at + $1::float8 * interval '1 ms' < (select ${s}.now())
        and not exists (select 1 from ${s}.live l where l.status = 'running' and l.worker_id = w.id)`,

    // ---- prune

    /** $1 status, $2 age, $3 after which id, $4 how many to look at, $5 how many to answer with. */
    oldJobs: `select c.job_id, c.ended_at, c.last, c.looked from (
        select e.job_id, e.ended_at, max(e.job_id) over () as last, count(*) over () as looked from (
          select job_id, ended_at from ${s}.run where status = $1 and job_id > $3 order by job_id limit $4) e) c
      where (c.ended_at + $2::float8 * interval '1 ms' < (select ${s}.now()) and ${standsAlone('c.job_id')})
        or c.job_id = c.last
      order by c.ended_at, c.job_id limit $5`,
    /** Of these, those that are still ended and old: a retry may have come between. */
    lockOld: `select r.job_id from ${s}.run r
      where r.job_id = any($1::bigint[]) and r.status = $2 and r.ended_at + $3::float8 * interval '1 ms' < (select ${s}.now())
      order by r.job_id for update skip locked`,
    /** In a later statement than their lock: whoever adds a child to one of them locks it too. */
    prunable: `select i.job_id from unnest($1::bigint[]) i(job_id) where ${standsAlone('i.job_id')}`,
    /** $1 status, $2 age, $3 how many. Those with steps that somebody unfinished depends on are left out. */
    oldWorkflows: `select w.id from ${s}.workflow w
      where w.status = $1 and w.ended_at + $2::float8 * interval '1 ms' < (select ${s}.now()) and not exists (
        select 1 from ${s}.job j where j.workflow_id = w.id and ${isNeeded('j.id')})
      order by w.id limit $3`,
    workflowJobs: `select id from ${s}.job where workflow_id = $1 order by id`,
    neededOf: `select i.job_id from unnest($1::bigint[]) i(job_id) where ${isNeeded('i.job_id')}`,
    /** After its jobs, as all do. */
    lockOldWorkflow: `select id from ${s}.workflow where id = $1 and status = $2
      and ended_at + $3::float8 * interval '1 ms' < (select ${s}.now()) for update`,
    pruneWorkflow: `delete from ${s}.workflow where id = $1`,
    pruneJobs: `with gone as (select unnest($1::bigint[]) as job_id),
      fans as (delete from ${s}.fan f using gone where f.job_id = gone.job_id),
      cascades as (delete from ${s}.cascade c using gone where c.job_id = gone.job_id),
      into_them as (delete from ${s}.edge e using gone where e.child_id = gone.job_id),
      from_them as (delete from ${s}.edge e using gone where e.parent_id = gone.job_id and not e.child_id = any($1::bigint[])),
      runs as (delete from ${s}.run r using gone where r.job_id = gone.job_id),
      results as (delete from ${s}.result x using gone where x.job_id = gone.job_id),
      progresses as (delete from ${s}.progress p using gone where p.job_id = gone.job_id),
      logs as (delete from ${s}.log g using gone where g.job_id = gone.job_id),
      sent as (delete from ${s}.notification n using gone where n.job_id = gone.job_id),
      told as (delete from ${s}.notification n using gone where n.subject_job_id = gone.job_id and not n.job_id = any($1::bigint[])),
      ${freeKeys('gone', 'true')}
      delete from ${s}.job j using gone where j.id = gone.job_id`,
    pruneKeys: `delete from ${s}.unique_key where key = any(array(
      select key from ${s}.unique_key where expires_at <= (select ${s}.now()) for update skip locked))`,
    pruneIdempotency: `delete from ${s}.idempotency where key = any(array(
      select key from ${s}.idempotency
      where created_at + $1::float8 * interval '1 ms' <= (select ${s}.now()) for update skip locked))`,
    pruneAlarms: `delete from ${s}.alarm where raised_at + $1::float8 * interval '1 ms' < (select ${s}.now())`,
    pruneStats: `delete from ${s}.stat where minute + $1::float8 * interval '1 ms' < (select ${s}.now())`,

    // ---- reading

    jobs: `select ${jobsFrom(s)} where j.id = any($1::bigint[])`,
    newestJobId: `select max(id) as id from ${s}.job`,
    /** One that is offline runs nothing any more; until its lease ended it may have claimed without a sign. */
    workerGone: `select extract(epoch from seen_at)::float8 * 1000 + lease_ms as at from ${s}.worker
      where id = $1 and state = 'offline'`,
    /** The last job that was created before $1, by halving. */
    lastJobBefore: `with recursive found(low, high) as (
        select 0::bigint, coalesce(max(id), 0) + 1 from ${s}.job
        union all
        select case when p.is_later then f.low else f.middle end, case when p.is_later then p.id else f.high end
        from (select low, high, (low + high) / 2 as middle from found where high - low > 1) f left join lateral (
          select j.id, j.created_at >= to_timestamp($1::float8 / 1000.0) as is_later from ${s}.job j
          where j.id > f.low and j.id <= f.middle order by j.id desc limit 1) p on true)
      select max(low) as id from found`,
    attempts: `select job_id, attempt, worker_id, coalesce(started_at, ended_at) as started_at, ended_at, outcome, exit_code, signal, error from ${s}.run
      where job_id = $1 and attempt > 0 order by attempt`,
    countAhead: `select count(*) as count from (
      select 1 from ${s}.live me join ${s}.lane mine on mine.id = me.lane
        join ${s}.lane n on n.queue = mine.queue cross join lateral (
          select 1 from ${s}.live l where l.status = 'pending' and l.lane = n.id
            and (${order}) < (me.rank, case when me.status = 'pending' then me.turn else 0 end, me.due, me.job_id)
          limit $2) ahead
      where me.job_id = $1 and me.status in ('blocked', 'scheduled', 'pending') limit $2) counted`,

    // ---- logs

    /** The check and the write are one step: nothing of an attempt that was given away is stored. */
    appendLogs: `with input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bytea[])
          with ordinality i(job_id, attempt, worker_id, start, data, place)),
      held as materialized (
        select i.* from input i join ${s}.live l on ${isHeld}),
      stored as (
        insert into ${s}.log (job_id, attempt, start, data)
        select job_id, attempt, start, data from held where octet_length(data) > 0 order by place on conflict do nothing)
      select place from held`,
    /** What lies wholly between the two ends that are kept. */
    cutLog: `delete from ${s}.log g using (
        select max(start + octet_length(data)) as total from ${s}.log where job_id = $1 and attempt = $2) whole
      where g.job_id = $1 and g.attempt = $2 and whole.total > 2 * $3::bigint
        and g.start >= $3::bigint and g.start + octet_length(g.data) <= whole.total - $3::bigint`,
    readLog: `select start, data from (
        select start, data, octet_length(data) as size, sum(octet_length(data)) over before as bytes,
          row_number() over before as place
        from ${s}.log where job_id = $1 and attempt = $2 and start + octet_length(data) > $3::bigint
        window before as (order by start)) piece
      where bytes <= $4::bigint or place = 1 order by start`,

    // ---- queues

    /** Groups are not counted as running: nobody runs them. */
    queueCounts: `select n.queue as name, l.status, count(*) filter (where l.status <> 'running' or l.flags & 2 = 0) as count,
        min(l.due) as due
      from ${s}.live l join ${s}.lane n on n.id = l.lane where $1::text is null or n.queue = $1
      group by n.queue, l.status`,
    queueRows: `select name, paused_at, max_running from ${s}.queue where $1::text is null or name = $1`,
    /** $2 paused or null, $3 whether to set $4, the limit. */
    setQueue: `with ${now}
      insert into ${s}.queue as q (name, paused_at, max_running)
      select $1, case when $2::boolean then t.now end, case when $3::boolean then $4::integer end from t
      on conflict (name) do update
      set paused_at = case when $2::boolean is null then q.paused_at when $2::boolean then coalesce(q.paused_at, excluded.paused_at) end,
        max_running = case when $3::boolean then $4::integer else q.max_running end`,

    // ---- workers

    nextWorkerId: `select nextval('${s}.worker_id')::integer as id`,
    insertWorker: `with ${now}
      insert into ${s}.worker (id, name, state, attachment, instance_id, lease_ms, registered_at, seen_at, profile)
      select $1, $2, 'online', $3, $4, $5, t.now, t.now, $6 from t`,
    workers: `select w.id, w.name, w.state, w.attachment, w.instance_id, w.lease_ms, w.registered_at, w.seen_at, w.profile,
        (select count(*) from ${s}.live l where l.status = 'running' and l.worker_id = w.id) as running
      from ${s}.worker w where $1::integer is null or w.id = $1 order by w.id`,
    /** Remembered beside the state, for one that goes offline and comes back. */
    drainWorker: `update ${s}.worker set profile = profile || '{"draining": true}',
        state = case when state = 'online' then 'draining' else state end
      where id = $1`,
    leaveWorker: `update ${s}.worker set state = 'offline' where id = $1`,

    // ---- statistics and operations

    addStats: `insert into ${s}.stat as s (minute, instance_id, queue, outcome, count, wait, run)
      select to_timestamp(i.minute / 1000.0), i.instance_id, i.queue, i.outcome, i.count, i.wait::bigint[], i.run::bigint[]
      from unnest($1::float8[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[])
        i(minute, instance_id, queue, outcome, count, wait, run)
      order by 1, 3, 4, 2
      on conflict (minute, queue, outcome, instance_id) do update
      set count = s.count + excluded.count,
        wait = array(select coalesce(a, 0) + coalesce(b, 0)
          from unnest(s.wait, excluded.wait) with ordinality u(a, b, place) order by place),
        run = array(select coalesce(a, 0) + coalesce(b, 0)
          from unnest(s.run, excluded.run) with ordinality u(a, b, place) order by place)`,
    stats: `select minute, queue, outcome, count, wait, run from ${s}.stat
      where minute >= to_timestamp($1::float8 / 1000.0) and minute < to_timestamp($2::float8 / 1000.0)`,

    insertOperation: `with ${now}
      insert into ${s}.operation (id, action, filter, status, total, created_at)
      select nextval('${s}.operation_id'), $1, $2, 'running', $3, t.now from t returning *`,
    operation: `select * from ${s}.operation where id = $1`,
    openOperations: `select * from ${s}.operation where status = 'running' order by id`,
    advanceOperation: `with ${now}
      update ${s}.operation o set cursor = $3, changed = o.changed + $4, skipped = o.skipped + $5, status = $6,
        ended_at = case when $6 <> 'running' then t.now end
      from t where o.id = $1 and o.cursor is not distinct from $2::bigint and o.status = 'running' returning o.id`,

    // ---- instances and their duties

    knowDuties: `insert into ${s}.leader (duty, number, instance_id, term, expires_at, locked)
      select d.duty, d.number, '', 0, 'epoch', false from unnest($1::text[], $2::integer[]) d(duty, number)
      on conflict do nothing`,
    keepDuties: `with ${now}
      update ${s}.leader l set expires_at = t.now + $5::float8 * interval '1 ms', locked = k.locked and ${ownSession('$6')}
      from t, unnest($2::text[], $3::bigint[], $4::boolean[]) k(duty, term, locked)
      where l.duty = k.duty and l.term = k.term and l.instance_id = $1 and l.expires_at > t.now
      returning ${leaderColumns}`,
    /**
     * Tries the locks that would help: a lock marks a leader's end only where that leader had it, and a leader without
     * one wants it. Never one that the session has: it would have it twice. In a session that is not ours, none.
     */
    lookAtDuties: `with ${now}
      select ${leaderColumns}, ${ownSession('$5')} as own_session,
        case when ${ownSession('$5')} and not l.duty = any($3::text[])
            and (l.locked or l.expires_at <= t.now or l.instance_id = $1)
          then pg_try_advisory_lock($4::integer, l.number) end as got
      from ${s}.leader l, t where l.duty = any($2::text[]) order by l.duty`,
    /** Waits for nobody: a row that somebody holds is kept, taken by another, or being written under. */
    takeDuties: `with ${now}, free as materialized (
        select l.duty, f.locked from ${s}.leader l
          join unnest($2::text[], $3::bigint[], $4::boolean[]) f(duty, term, locked)
            on f.duty = l.duty and f.term = l.term
          cross join t
        where l.expires_at <= t.now or (l.locked and f.locked) order by l.duty for update of l skip locked)
      update ${s}.leader l set instance_id = $1, term = l.term + 1, locked = free.locked,
        expires_at = t.now + $5::float8 * interval '1 ms'
      from free, t where l.duty = free.duty returning ${leaderColumns}`,
    unlockDuties: 'select pg_advisory_unlock($1::integer, number) from unnest($2::integer[]) d(number)',
    resign: `with ${now}
      update ${s}.leader l set expires_at = t.now from t where l.instance_id = $1 and l.expires_at > t.now`,
    duties: `with ${now} select ${leaderColumns} from ${s}.leader l, t where l.term > 0 order by l.duty`,

    beatInstance: `with ${now}
      insert into ${s}.instance (id, host, pid, roles, version, url, beat_ms, started_at, seen_at)
      select $1, $2, $3, $4, $5, $6, $7, t.now, t.now from t
      on conflict (id) do update set host = excluded.host, pid = excluded.pid, roles = excluded.roles,
        version = excluded.version, url = excluded.url, beat_ms = excluded.beat_ms, seen_at = excluded.seen_at`,
    instances: `with ${now} select i.*, t.now from ${s}.instance i, t order by i.started_at, i.id`,
    leaveInstance: `delete from ${s}.instance where id = $1`,
    forgetInstances: `with ${now}
      delete from ${s}.instance i using t where i.seen_at + $1::float8 * interval '1 ms' < t.now returning i.id`,

    // ---- being told

    ...noticeTexts(s, now),

    // ---- applications' transactions

    intake: `select job_id, kind, wish from ${s}.intake order by job_id limit $1`,
    takeIntake: `delete from ${s}.intake where job_id = any(array(
        select job_id from ${s}.intake where job_id = $1 for update skip locked))
      returning ${s}.now() as now`,
    /** As a job that is new and waits for nobody. Turns are given by the promoter. */
    adoptLive: `with ${now}
      update ${s}.live l
      set lane = $2, flags = l.flags & ~${FLAG.unjudged},
        status = case when l.due > t.now or exists (select 1 from ${s}.fair_queue f where f.name = j.queue) then 'scheduled' else 'pending' end,
        expires_at = greatest(l.due, t.now) + (j.spec ->> 'start_timeout_ms')::float8 * interval '1 ms'
      from t, ${s}.job j where l.job_id = $1 and j.id = l.job_id and l.status = 'blocked' and l.flags & ${FLAG.unjudged} <> 0
      returning l.flags`,
    standing: `select status, due from ${s}.live where job_id = $1`,

    // ---- progress

    /** Each job once. */
    report: `with input as materialized (
        select * from unnest($1::bigint[], $2::integer[], $3::integer[], $4::float8[], $5::text[], $6::jsonb[])
          with ordinality i(job_id, attempt, worker_id, fraction, note, checkpoint, place)),
      held as materialized (
        select i.* from input i join ${s}.live l on ${isHeld}),
      stored as (
        insert into ${s}.progress as p (job_id, attempt, fraction, note, checkpoint)
        select job_id, attempt, fraction, note, checkpoint from held order by job_id
        on conflict (job_id) do update set attempt = excluded.attempt,
          fraction = case when excluded.fraction is not null or p.attempt <> excluded.attempt then excluded.fraction
            else p.fraction end,
          note = case when excluded.fraction is not null or p.attempt <> excluded.attempt then excluded.note
            else p.note end,
          checkpoint = coalesce(excluded.checkpoint, p.checkpoint))
      select place from held`,
    checkpoint: `select checkpoint from ${s}.progress where job_id = $1`,

    // ---- hints

    ...graphTexts(s, now),
    ...scheduleTexts(s, now),

    notify: 'select pg_notify($1, $2)',
    notifyWaiting: `select pg_notify($1, $2) where exists (
      select 1 from ${s}.waiter where until > clock_timestamp() and instance_id <> $3)`,
  };
}
