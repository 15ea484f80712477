/** Claims jobs. */

import { FLAG } from '../../flags.ts';
import { heldIn } from './heartbeat.ts';
import { epochMs, nowIn } from './instants.ts';
import { freeKeysIn } from './keys.ts';
import { hasPlaceIn, isOpenIn, mayClaimIn } from './may-claim.ts';
import { isPending } from './standing.ts';

/** The order in which jobs are claimed. */
export const order = 'l.rank, l.turn, l.due, l.job_id';

/**
 * Records a claim of `jobs`, an array that is null for none, and deletes claims of the same worker whose jobs have ended: the
 * parameter `ended`.
 */
export function newClaimIn(s: string) {
  return (jobs: string, { worker, seq, ended }: Record<'worker' | 'seq' | 'ended', string>) => `ended as (
      delete from ${s}.claim c where c.worker_id = ${worker} and c.id = any(${ended}::bigint[])),
    claim as (
      insert into ${s}.claim (worker_id, seq, claimed_at, job_ids)
      select ${worker}, ${seq}::bigint, t.now, n.job_ids from t, (${jobs}) n where n.job_ids is not null returning id)`;
}

/** Lanes whose jobs are claimed in one order. */
interface Merged {
  lanes: string;
  /** True for a queue `q` from which nothing may be claimed now. */
  isClosed: string;
  /** True if nothing may be claimed because of places of gangs. */
  isPlaced: string;
  /** True for a job `l` of the crowd, if there is one. */
  crowd?: string;
  /** The columns of `lanes` for the crowd. */
  asLane: string;
}

export function claimSql(s: string) {
  const now = nowIn(s);
  const isOpen = isOpenIn(s);
  const newClaim = newClaimIn(s);
  const freeKeys = freeKeysIn(s);

  const isSuspect = `l.flags & ${FLAG.suspect} <> 0 as suspect`;
  /** The rows in `picked`, up to the first suspect. A suspect is claimed only as the first, and then alone. */
  const pickedAlone = `(select case when not bool_or(suspect) then array_agg(ctid) else array(
        select b.ctid from (
          select l.ctid, bool_or(l.flags & ${FLAG.suspect} <> 0) over (order by ${order}) as stops, row_number() over (order by ${order}) as place
          from ${s}.live l where l.ctid = any(array(select ctid from picked))) b
        where not b.stops or b.place = 1) end from picked)::tid[]`;

  /**
   * Claims the rows in `picked`, ctids of locked rows. A row that an edit has rewritten since the snapshot has another
   * ctid: it is missed, and never run with its old payload.
   *
   * The answer is one row of arrays, because a row per job would cost as much as the claim. The fields of `live` and those of
   * `job` are returned side by side: one scan of `job` in the order of its ids costs less than a join. The fields of `live` are
   * sorted to be in that order, which is cheaper than to bring them together afterwards. `job_ids` is the order of the scan,
   * unless it is that of `ids`, as no statement guarantees it. What most jobs do not have is only in `more_live` and `more_job`. The row is returned even if
   * nothing was taken: it carries the worker's state and how many jobs were wanted, so that a claim that missed some tries again;
   * and `placed`, if nothing was taken because a gang has a place that the caller has not looked at.
   */
  const takePicked = (
    wanted: string,
    { startedAt = 't.now', ctids = pickedAlone, lanes = 'array_agg(lane)' } = {},
  ) => `taken as (
      update ${s}.live l
      set claimed = true, attempt = l.attempt + 1, worker_id = $1, started_at = ${startedAt},
        renewed_at = case when $2::bigint is null then t.now end
      from t where l.ctid = any(${ctids})
      returning l.job_id, l.attempt, l.failures, l.due, l.turn, l.lane, l.flags),
    claimed as materialized (
      select array_agg(job_id) as ids, ${lanes} as lanes, array_agg((date_part('epoch', due) * 1000)::bigint) as dues,
        json_object_agg(job_id, json_build_array(attempt, flags, turn, failures))
          filter (where attempt <> 1 or flags <> 0 or turn <> 0 or failures is not null) as more_live
      from (select * from taken order by job_id) taken),
    ${newClaim('select ids as job_ids from claimed', { worker: '$1', seq: '$2', ended: '$3' })},
    ${freeKeys('taken', `g.flags & ${FLAG.holdsKey} <> 0 and u.hold = 'pending'`)}
    select (select state from ${s}.worker where id = $1) as state, (${wanted}) as wanted,
      (select ${epochMs('now')} from t) as now, (select id from claim) as claim, (select placed from placed) as placed, c.*,
      case when j.job_ids <> c.ids then j.job_ids end as job_ids, j.specs, j.more_job
    from claimed c, (
      select array_agg(j.id) as job_ids, json_agg(j.spec) as specs, json_object_agg(j.id, json_build_array(j.priority,
          j.name, j.tags, j.workflow_id, j.step_key, j.group_id, j.group_index))
          filter (where j.priority <> 0 or j.name is not null or j.tags <> '{}'
            or j.workflow_id is not null or j.group_id is not null) as more_job
      from ${s}.job j where j.id = any((select ids from claimed)::bigint[])) j`;
  /** True if a job may be prefetched, provided that its lane may. */
  const mayBePrefetched = (row: string) =>
    `coalesce(${row}.failures, 0) = 0 and ${row}.flags & ${FLAG.neverPrefetched | FLAG.suspect} = 0`;
  const mayClaim = mayClaimIn(s)('$1', '(select now from t)');
  const hasPlace = hasPlaceIn(s);
  const ownPlace = hasPlace('p.worker_id = $1');
  const placed = (is: string) => `placed as materialized (select ${is} as placed)`;
  const mayClaimUnplaced = `${mayClaim} and not (select placed from placed)`;

  /** True if queue `q` has reached max_running, or its rate. */
  const most = `((q.rate -> 'limit')::integer + (q.rate -> 'burst')::integer)`;
  const isFull = `${most} <= (
          select count(*) from ${s}.metered_start s where s.name = 'queue:' || q.name and s.at > (select now from t)
            - ceil((q.rate -> 'perMs')::float8 * ${most} / (q.rate -> 'limit')::float8) * interval '1 ms')
        or q.max_running <= (
          select count(distinct l.job_id) from ${heldIn(s)} join ${s}.lane k on k.id = l.lane where k.queue = q.name)`;
  /**
   * Lanes from which nothing may be claimed now. Read once, because a lookup per lane costs more than reading the lane's head; and queues
   * first (`offset 0`), as PostgreSQL may have no statistics of a table of a few queues, and would look up the queue of each lane.
   */
  const closed = (isClosed: string) => `closed as materialized (
        select n.id from (select q.name from ${s}.queue q where q.paused_at is not null or ${isClosed} offset 0) q
        join ${s}.lane n on n.queue = q.name)`;
  /**
   * `tops`: the $5 most urgent heads of the open `lanes` (alias u), where a head is the most urgent job of a lane. Other lanes
   * have none of the $5 most urgent jobs. `bound`: the last of $5 heads; no job after it is one of the $5 most urgent. If
   * there are fewer heads, nothing is bounded. Example with $5 = 2: lane A has jobs 1, 2 and 9 in order of urgency, lane B
   * has job 5. The heads are 1 and 5, the bound is 5, so lane A is read up to job 2, and jobs 1 and 2 are claimed.
   *
   * All lanes of a `crowd` count as one lane, with the number 0, as the index live_crowd has their jobs in one order.
   */
  const tops = ({ lanes, isClosed, isPlaced, crowd, asLane }: Merged) => `${placed(isPlaced)}, ${closed(isClosed)},
      tops as materialized (
        select u.*, c.rank, c.turn, c.due, c.job_id from ${lanes} cross join lateral (
          select l.rank, l.turn, l.due, l.job_id from ${s}.live l
          where ${isPending('l')} and l.lane = u.lane order by ${order} limit 1) c
        where u.lane not in (select id from closed) and ${mayClaimUnplaced}
        ${orInCrowd(crowd, (isIn) => `(select ${asLane}, l.rank, l.turn, l.due, l.job_id from ${s}.live l where ${isIn} and ${mayClaimUnplaced} order by ${order} limit 1)`)}
        order by rank, turn, due, job_id limit $5),
      bound as materialized (
        select * from (select rank, turn, due, job_id from tops order by rank, turn, due, job_id offset $5 - 1) last
        union all select 2147483647, 9223372036854775807, 'infinity'::timestamptz, 9223372036854775807
        where (select count(*) from tops) < $5)`;
  const withinBound = '(l.rank, l.turn, l.due, l.job_id) <= (b.rank, b.turn, b.due, b.job_id)';
  /** The part of a statement for the jobs of the crowd; nothing if there is none. */
  const orInCrowd = (crowd: string | undefined, part: (isIn: string) => string) =>
    crowd === undefined ? '' : `union all ${part(`${isPending('l')} and ${crowd}`)}`;
  /** From the 64th lane up to `last`. `+ 0`: the index of single lanes must not be used. */
  const crowdUpTo = (last: string) =>
    `(l.lane >> 6) > 0 and l.lane + 0 <= ${last}::integer and l.lane not in (select id from closed)`;

  const hasLimit = 'q.max_running is not null or q.rate is not null';
  const mayLanes = 'unnest($4::integer[], $6::boolean[]) u(lane, may)';

  const merged = (given: Merged) => `with ${now}, ${tops(given)},
      heads as materialized (
        select m.lane, count(*) as n from (
          select c.* from bound b, tops cross join lateral (
            select l.lane, l.rank, l.turn, l.due, l.job_id from ${s}.live l
            where ${isPending('l')} and l.lane = tops.lane and ${withinBound} order by ${order} limit $5) c
          ${orInCrowd(
            given.crowd,
            (isIn) => `select 0, c.* from bound b cross join lateral (
            select l.rank, l.turn, l.due, l.job_id from ${s}.live l where ${isIn} and ${withinBound} order by ${order} limit $5) c
            where ${mayClaimUnplaced}`,
          )}
          order by rank, turn, due, job_id limit $5) m
        group by m.lane),
      picked as materialized (
        select p.ctid, p.suspect from heads h cross join lateral (
          select l.ctid, ${isSuspect} from ${s}.live l where ${isPending('l')} and l.lane = h.lane
          order by ${order} limit h.n for update skip locked) p
        ${orInCrowd(
          given.crowd,
          (isIn) => `select p.ctid, p.suspect from heads h cross join lateral (
          select l.ctid, ${isSuspect} from ${s}.live l where ${isIn} order by ${order} limit h.n for update skip locked) p where h.lane = 0`,
        )}),
      ${takePicked('select coalesce(sum(n), 0)::integer from heads')}`;

  const prefetched = (given: Merged) => `with ${now}, ${tops(given)},
      best as materialized (
        select f.*, row_number() over (order by f.rank, f.turn, f.due, f.job_id) as place from (
          select c.*, tops.may from bound b, tops cross join lateral (
            select l.lane, l.rank, l.turn, l.due, l.job_id, l.failures, l.flags from ${s}.live l
            where ${isPending('l')} and l.lane = tops.lane and ${withinBound} order by ${order} limit $5) c
          ${orInCrowd(
            given.crowd,
            (isIn) => `select 0, c.*, true from bound b cross join lateral (
            select l.rank, l.turn, l.due, l.job_id, l.failures, l.flags from ${s}.live l
            where ${isIn} and ${withinBound} order by ${order} limit $5) c where ${mayClaimUnplaced}`,
          )}) f
        order by f.rank, f.turn, f.due, f.job_id limit $5),
      heads as materialized (
        select lane, count(*) as n from best
        where place < coalesce((select min(place) from best where not (may and ${mayBePrefetched('best')})), $5 + 1)
        group by lane),
      picked as materialized (
        select p.ctid from heads h cross join lateral (
          select l.ctid from ${s}.live l where ${isPending('l')} and l.lane = h.lane and ${mayBePrefetched('l')}
          order by ${order} limit h.n for update skip locked) p
        ${orInCrowd(
          given.crowd,
          (isIn) => `select p.ctid from heads h cross join lateral (
          select l.ctid from ${s}.live l where ${isIn} and ${mayBePrefetched('l')}
          order by ${order} limit h.n for update skip locked) p where h.lane = 0`,
        )}),
      ${takePicked('select coalesce(sum(n), 0)::integer from heads', {
        startedAt: 'null',
        ctids: 'array(select ctid from picked)',
      })}`;

  return {
    /** $1 lanes, $2 the number of jobs to read in each. */
    laneHeads: `select c.* from unnest($1::integer[], $2::integer[]) u(lane, n) cross join lateral (
        select l.lane, l.rank, l.turn, l.due, l.job_id, ${isSuspect} from ${s}.live l
        where ${isPending('l')} and l.lane = u.lane order by ${order} limit u.n) c
      where ${isOpen('u.lane', 'false')} order by c.rank, c.turn, c.due, c.job_id`,
    /** `parking`: 0 if it is not parked. */
    pendingLane: `select coalesce((select p.lane from ${s}.parking p where p.id = -l.lane), l.lane) as lane,
        greatest(-l.lane, 0) as parking
      from ${s}.live l where l.job_id = $1 and ${isPending('l')}`,

    // PostgreSQL only: a claim is one statement that skips locked rows, and processes that wait for jobs are registered.
    /**
     * $4 lanes, $5 limit. Counts how many of the $5 most urgent jobs are in each lane, then takes that many from each lane,
     * skipping locked rows.
     */
    claimMerged: merged({
      lanes: 'unnest($4::integer[]) u(lane)',
      isClosed: hasLimit,
      isPlaced: ownPlace,
      asLane: '0',
    }),
    /** As claimMerged, and in addition all lanes from the 64th up to $6. */
    claimCrowd: merged({
      lanes: 'unnest($4::integer[]) u(lane)',
      isClosed: hasLimit,
      isPlaced: ownPlace,
      asLane: '0',
      crowd: crowdUpTo('$6'),
    }),
    /**
     * $4 lanes, $5 the number of jobs to take from each, $6 true to leave out queues that have a limit. $7 false: the places of gangs
     * have been looked at. Otherwise nothing is claimed if one matters: one of this worker or, where limits decide, any.
     */
    claimPlanned: `with ${now}, ${placed(`$7 and ${hasPlace('p.worker_id is not null and (p.worker_id = $1 or not $6)')}`)},
      picked as materialized (
        select p.ctid, p.suspect from unnest($4::integer[], $5::integer[]) h(lane, n) cross join lateral (
          select l.ctid, ${isSuspect} from ${s}.live l where ${isPending('l')} and l.lane = h.lane
          order by ${order} limit h.n for update skip locked) p
        where ${isOpen('h.lane', '$6')} and ${mayClaimUnplaced}),
      ${takePicked('select count(*)::integer from picked')}`,
    /** As claimPlanned, and in addition the jobs $6. */
    claimPassing: `with ${now}, ${placed(`$7 and ${hasPlace('p.worker_id is not null')}`)},
      picked as materialized (
        select p.ctid, p.suspect from unnest($4::integer[], $5::integer[]) h(lane, n) cross join lateral (
          select l.ctid, ${isSuspect} from ${s}.live l where ${isPending('l')} and l.lane = h.lane
          order by ${order} limit h.n for update skip locked) p
        where ${isOpen('h.lane', 'false')} and ${mayClaimUnplaced}
        union all
        select p.ctid, p.suspect from (
          select l.ctid, l.lane, ${isSuspect} from ${s}.live l where ${isPending('l')} and l.job_id = any($6::bigint[])
          order by l.job_id for update skip locked) p
        where ${isOpen('p.lane', 'false')} and ${mayClaimUnplaced}),
      ${takePicked('select count(*)::integer from picked')}`,
    /**
     * $4 lanes, $5 limit, $6 true for lanes whose jobs may be prefetched. As claimMerged, but stops at the first job that may
     * not be prefetched, so that no job is overtaken.
     */
    claimPrefetch: prefetched({ lanes: mayLanes, isClosed: isFull, isPlaced: 'false', asLane: '0, true' }),
    /** As claimPrefetch, and in addition all lanes from the 64th up to $7, whose jobs may be prefetched. */
    claimCrowdPrefetch: prefetched({
      lanes: mayLanes,
      isClosed: isFull,
      isPlaced: 'false',
      asLane: '0, true',
      crowd: crowdUpTo('$7'),
    }),
    /** claimPrefetch for one lane whose jobs may be prefetched. Answers with no lanes. */
    claimPrefetchOneLane: `with ${now}, ${placed('false')},
      found as materialized (
        select array_agg(p.ctid) as ctids, array_position(array_agg(p.may), false) - 1 as stop
        from unnest($4::integer[]) h(lane) cross join lateral (
          select l.ctid, ${mayBePrefetched('l')} as may from ${s}.live l where ${isPending('l')} and l.lane = h.lane
          order by ${order} limit $5 for update skip locked) p
        where ${isOpen('h.lane', 'true')} and ${mayClaim}),
      picked as materialized (select case when stop is null then ctids else ctids[:stop] end as ctids from found),
      ${takePicked('select coalesce(cardinality(ctids), 0) from picked', {
        startedAt: 'null',
        ctids: '(select ctids from picked)::tid[]',
        lanes: 'null::integer[]',
      })}`,
    /** Uses the server's own clock, also where tests set the time of jobs: waiters are processes. */
    registerWaiter: `insert into ${s}.waiter (instance_id, until) values ($1, clock_timestamp() + $2::float8 * interval '1 ms')
      on conflict (instance_id) do update set until = excluded.until`,
    deleteWaiter: `delete from ${s}.waiter where instance_id = $1 or until < clock_timestamp() - interval '1 hour'`,
  };
}
