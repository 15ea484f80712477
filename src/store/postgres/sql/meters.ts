/** Limits and rates: what is in use of them, and the jobs that wait for them. */

import type { Twins } from '../../statements.ts';
import { isOpenIn, mayClaimIn, order } from './claim.ts';
import { epochMs, nowIn } from './instants.ts';
import { isPending, liveOf, pendingOf } from './standing.ts';

export function metersSql(s: string) {
  const now = nowIn(s);
  const isOpen = isOpenIn(s);
  const mayClaim = mayClaimIn(s);
  /** Attempts that still run, with the names of their limits. */
  const runs = `${s}.metered_start s join lateral ${liveOf(s, 's.job_id')} l on l.attempt = s.attempt and l.claimed`;
  const running = (name: string) => `(select count(*) from ${runs} where s.name = ${name})`;
  const parked = pendingOf(s, '-p.id');
  const waiting = (name: string) =>
    `(select count(*) from ${s}.parking p cross join lateral ${parked} l where p.meter = ${name})`;
  const isRecent = `s.at > t.now - coalesce(m.window_ms, 0) * interval '1 ms'`;
  /** Parkings of the meters in $1 that claims look at again. */
  const open = (meters: string) => `update ${s}.parking p set opens_at = '-infinity' where p.meter = any(${meters})`;
  const names = `select s.name from ${s}.metered_start s where s.job_id = any($1::bigint[]) and s.name like 'limit:%'
        union select s.name from ${s}.metered_start s where s.job_id = any($2::bigint[])`;

  return {
    meterUses: `with ${now}
      select i.name, m.max, m.opens_at, ${running('i.name')} as running, case when i.name not like 'limit:%' then array(
          select ${epochMs('s.at')} from ${s}.metered_start s where s.name = i.name and ${isRecent} order by s.at) else '{}' end as starts, t.now
      from t, unnest($1::text[]) with ordinality i(name, place) left join ${s}.meter m on m.name = i.name order by i.place`,
    metersOfJobs: `select j.id, j.spec -> 'limits' as limits, j.spec -> 'rates' as rates, j.spec ->> 'on_limit' as on_limit
      from ${s}.job j where j.id = any($1::bigint[])`,
    /** Locks them in the order of their names; $1 must be sorted so. What is in use is read in the next statement. */
    noteWindows: `insert into ${s}.meter as m (name, window_ms) select * from unnest($1::text[], $2::bigint[])
      on conflict (name) do update set window_ms = greatest(m.window_ms, excluded.window_ms)`,
    noteStarts: `with ${now}
      insert into ${s}.metered_start (name, at, job_id, attempt) select i.name, t.now, l.job_id, l.attempt
      from t, unnest($1::text[], $2::bigint[]) i(name, job_id) join ${s}.live l on l.job_id = i.job_id`,
    trimStarts: `with ${now}
      delete from ${s}.metered_start s using t, ${s}.meter m
      where s.name = any($1::text[]) and m.name = s.name and not (${isRecent})`,
    /** $1 jobs with limits whose attempts ended, $2 jobs whose attempts did not start. Their meters are locked. */
    releaseMeters: `with gone as (
        delete from ${s}.metered_start s where (s.job_id = any($1::bigint[]) and s.name like 'limit:%')
          or (s.job_id = any($2::bigint[]) and s.attempt = (select l.attempt from ${s}.live l where l.job_id = s.job_id))
        returning s.name)
      ${open('array(select name from gone)')}`,
    /** Parkings of lanes $1 that worker $2 may claim from. */
    openedParkings: `with ${now}
      select p.id, p.lane, p.meter from ${s}.parking p, t
      where p.lane = any($1::integer[]) and p.opens_at <= t.now and not p.skips and ${isOpen('p.lane', 'false')}
        and ${mayClaim('$2', 't.now')}`,
    parkingById: `select p.id, p.lane, p.meter from ${s}.parking p
      where p.id = $1 and not p.skips and ${isOpen('p.lane', 'false')}`,
    park: `insert into ${s}.parking as p (lane, meter, rule, skips, opens_at)
      select i.lane, i.meter, i.rule, i.skips, coalesce(to_timestamp(i.opens_at / 1000.0), 'infinity')
      from unnest($1::integer[], $2::text[], $3::text[], $4::boolean[], $5::float8[]) i(lane, meter, rule, skips, opens_at)
      on conflict (meter, lane, rule, skips) do update set opens_at = excluded.opens_at
      returning p.id, p.lane, p.meter, p.rule, p.skips`,
    parkJobs: `update ${s}.live l set lane = -i.parking
      from unnest($1::bigint[], $2::integer[]) i(job_id, parking) where l.job_id = i.job_id`,
    unparkJobs: `update ${s}.live l set lane = p.lane from ${s}.parking p
      where l.job_id = any($1::bigint[]) and l.lane < 0 and p.id = -l.lane`,
    closeParkings: `update ${s}.parking p set opens_at = coalesce(to_timestamp(i.opens_at / 1000.0), 'infinity')
      from unnest($1::integer[], $2::float8[]) i(id, opens_at) where p.id = i.id`,
    dropParkings: `delete from ${s}.parking p where p.id = any($1::integer[])
      and not exists ${parked}`,
    openParkings: open('$1::text[]'),
    openDueParkings: `with ${now}
      update ${s}.parking p set opens_at = '-infinity' where p.id = any(array(
        select p.id from ${s}.parking p, t where p.opens_at <= t.now and p.opens_at > '-infinity'
        order by p.id for update of p skip locked))
      returning p.id`,
    nextOpening: `with ${now}
      select min(p.opens_at) as at from ${s}.parking p, t where p.opens_at > t.now and p.opens_at < 'infinity'
        and exists ${parked}`,
    /** Parking by parking: a join in the order of ids would read all pending jobs, even where nothing is parked. */
    parkedToSkip: `select c.job_id from ${s}.parking p cross join lateral (
        select l.job_id from ${s}.live l where ${isPending('l')} and l.lane = -p.id order by ${order} limit $1) c
      where p.skips order by c.job_id limit $1`,
    holders: `select s.job_id from ${runs} where s.name = $1 order by s.job_id limit $2`,
    countAheadAt: `select count(*) as count from (
        select 1 from ${s}.live me join ${s}.parking p on p.meter = $1 and not p.skips cross join lateral (
          select 1 from ${s}.live l where ${isPending('l')} and l.lane = -p.id
            and (${order}) < (me.rank, me.turn, me.due, me.job_id) limit $3) ahead
        where me.job_id = $2 and ${isPending('me')} limit $3) counted`,
    limits: `select * from (
        select n.name, (select m.max from ${s}.meter m where m.name = n.name) as max, ${running('n.name')} as running,
          ${waiting('n.name')} as waiting
        from (select name from ${s}.meter where max is not null union select s.name from ${runs}
          union select meter from ${s}.parking) n
        where n.name like 'limit:%' and ($1::text is null or n.name = $1)) n
      where max is not null or running > 0 or waiting > 0 or $1 is not null order by name collate "C"`,
    queueHasPending: `select n.queue from ${s}.any_lane n where n.queue = any($1::text[])
      and exists ${pendingOf(s, 'n.id')} group by n.queue`,
    setLimit: `insert into ${s}.meter (name, max) values ($1, $2) on conflict (name) do update set max = excluded.max`,
    rates: `with ${now}
      select * from (
        select n.name, case when m.opens_at > t.now then m.opens_at end as opens_at,
          (select count(*) from ${s}.metered_start s where s.name = n.name and ${isRecent}) as started, ${waiting('n.name')} as waiting
        from t, (select name from ${s}.meter union select meter from ${s}.parking) n left join ${s}.meter m on m.name = n.name
        where n.name like 'rate:%' and ($1::text is null or n.name = $1)) n
      where opens_at is not null or started > 0 or waiting > 0 or $1 is not null order by name collate "C"`,
    closeRate: `with ${now}
      insert into ${s}.meter as m (name, opens_at) select $1, t.now + $2::float8 * interval '1 ms' from t
      on conflict (name) do update set opens_at = greatest(m.opens_at, excluded.opens_at)`,
    pruneStarts: `with ${now}
      delete from ${s}.metered_start s using t where (s.name like 'limit:%' and not exists (
          select 1 from ${s}.live l where l.job_id = s.job_id and l.attempt = s.attempt and l.claimed offset 0))
        or (s.name not like 'limit:%' and s.at <= t.now - coalesce(
          (select m.window_ms from ${s}.meter m where m.name = s.name), 0) * interval '1 ms')`,
    pruneMeters: `with ${now}
      delete from ${s}.meter m where m.name = any(array(
        select m.name from ${s}.meter m, t where m.max is null and m.name not like 'queue:%' and coalesce(m.opens_at, '-infinity') <= t.now
          and not exists (select 1 from ${s}.metered_start s where s.name = m.name)
          and not exists (select 1 from ${s}.parking p where p.meter = m.name)
        limit 10000 for update of m skip locked))`,

    // PostgreSQL only: a claim reads and locks in sets.
    /** $1 lanes and parkings, $2 the number of jobs to read in each, $3 worker. Jobs that others have locked are left out. */
    meteredHeads: `with ${now}
      select c.* from unnest($1::integer[], $2::integer[]) u(lane, n) cross join lateral (
        select l.lane, l.rank, l.turn, l.due, l.job_id from ${s}.live l
        where ${isPending('l')} and l.lane = u.lane order by ${order} limit u.n for update skip locked) c
      where ${isOpen('u.lane', 'false')} and ${mayClaim('$3', '(select now from t)')}`,
    hasHeads: `with ${now}
      select 1 from unnest($1::integer[]) u(lane) where exists ${pendingOf(s, 'u.lane')}
        and ${isOpen('u.lane', 'false')} and ${mayClaim('$2', '(select now from t)')} limit 1`,
    ratedQueues: `select name, max_running, rate from ${s}.queue where rate is not null`,
    /** The meters of ended attempts, in the order of locks. */
    lockMeters: `select m.name from ${s}.meter m where m.name in (${names}) order by m.name collate "C" for update`,
  } satisfies Twins<'meters'>;
}
