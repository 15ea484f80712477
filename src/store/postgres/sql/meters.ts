/** Limits and rates: what is in use of them, and the jobs that wait for them. */

import { FLAG } from '../../flags.ts';
import { order } from './claim.ts';
import { nowIn } from './instants.ts';
import { isOpenIn, mayClaimIn } from './may-claim.ts';
import { isPending, pendingOf } from './standing.ts';

export function metersSql(s: string) {
  const now = nowIn(s);
  const isOpen = isOpenIn(s);
  const mayClaim = mayClaimIn(s);
  const parked = pendingOf(s, '-p.id');
  const isRecent = `s.at > t.now - coalesce(m.window_ms, 0) * interval '1 ms'`;
  /** Parkings of the meters in $1 that claims look at again. */
  const open = (meters: string) => `update ${s}.parking p set opens_at = '-infinity' where p.meter = any(${meters})`;
  const names = `select s.name from ${s}.metered_start s where s.job_id = any($1::bigint[]) and s.name like 'limit:%'
        union select s.name from ${s}.metered_start s where s.job_id = any($2::bigint[])`;

  return {
    /** A job with steps has started, and waits. */
    metersOfJobs: `select j.id, j.spec -> 'limits' as limits, j.spec -> 'rates' as rates,
        case when j.spec ? 'on_limit' and coalesce((
          select l.flags & ${FLAG.hasSteps} from ${s}.live l where l.job_id = j.id), 0) = 0 then j.spec ->> 'on_limit' end as on_limit
      from ${s}.job j where j.id = any($1::bigint[])`,
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
    dropParkings: `delete from ${s}.parking p where p.id = any($1::integer[])
      and not exists ${parked}`,

    // PostgreSQL only: a claim reads and locks in sets.
    closeParkings: `update ${s}.parking p set opens_at = coalesce(to_timestamp(i.opens_at / 1000.0), 'infinity')
      from unnest($1::integer[], $2::float8[]) i(id, opens_at) where p.id = i.id`,
    /** $1 lanes and parkings, $2 the number of jobs to read in each, $3 worker. Jobs that others have locked are left out. */
    meteredHeads: `with ${now}
      select c.* from unnest($1::integer[], $2::integer[]) u(lane, n) cross join lateral (
        select l.lane, l.rank, l.turn, l.due, l.job_id from ${s}.live l
        where ${isPending('l')} and l.lane = u.lane order by ${order} limit u.n for update skip locked) c
      where ${isOpen('u.lane', 'false')} and ${mayClaim('$3', '(select now from t)')}`,
    hasHeads: `with ${now}
      select 1 from unnest($1::integer[]) u(lane) where exists ${pendingOf(s, 'u.lane')}
        and ${isOpen('u.lane', 'false')} and ${mayClaim('$2', '(select now from t)')} limit 1`,
    /** The meters of ended attempts, in the order of locks. */
    lockMeters: `select m.name from ${s}.meter m where m.name in (${names}) order by m.name collate "C" for update`,
  };
}
