/** Limits and rates: what is in use of them, and the jobs that wait for them. */

import type { Twins } from '../../statements.ts';

/** `parking.opens_at` until a running job ends. */
export const NEVER_OPENS = Number.MAX_SAFE_INTEGER;

/** True if start `s` is of an attempt that still runs. */
const runs = `exists (select 1 from live l where l.job_id = s.job_id and l.attempt = s.attempt and l.status = 'running')`;
const running = (name: string) => `(select count(*) from metered_start s where s.name = ${name} and ${runs})`;
const waiting = (
  name: string,
) => `(select count(*) from parking p join live l on l.lane = -p.id and l.status = 'pending'
      where p.meter = ${name})`;
const started = (name: string, now: string) => `(select count(*) from metered_start s where s.name = ${name}
      and s.at > ${now} - (select m.window_ms from meter m where m.name = ${name}))`;

export const metersSql = {
  meterUses: `select i.value as name, m.max, m.opens_at, ${running('i.value')} as running,
      iif(i.value not like 'limit:%', (select json_group_array(s.at order by s.at) from metered_start s where s.name = i.value), '[]') as starts
    from json_each(?1) i left join meter m on m.name = i.value`,
  metersOfJobs: `select j.id, j.spec ->> 'limits' as limits, j.spec ->> 'rates' as rates, j.spec ->> 'on_limit' as on_limit
    from json_each(?1) i join job j on j.id = i.value`,
  noteWindows: `insert into meter (name, window_ms) values (?1, ?2)
    on conflict (name) do update set window_ms = max(window_ms, excluded.window_ms)`,
  noteStarts:
    'insert into metered_start (name, at, job_id, attempt) select ?1, ?2, job_id, attempt from live where job_id = ?3',
  /** Starts that no window reaches any more. */
  trimStarts: `delete from metered_start where name = ?1 and at <= ?2 - (select m.window_ms from meter m where m.name = ?1)`,
  /** ?2 true: the attempt did not start, so that its rates do not count it. */
  releaseMeters: `delete from metered_start where job_id = ?1 and (name like 'limit:%'
      or (?2 and attempt = (select l.attempt from live l where l.job_id = ?1)))
    returning name`,
  openedParkings: 'select id, lane, meter from parking where opens_at <= ? and not skips',
  parkingById: 'select id, lane, meter from parking where id = ? and not skips',
  park: `insert into parking (lane, meter, rule, skips, opens_at) values (?1, ?2, ?3, ?4, ?5)
    on conflict (meter, lane, rule, skips) do update set opens_at = excluded.opens_at returning id`,
  parkJobs: 'update live set lane = -?2 where job_id = ?1',
  unparkJobs: `update live set lane = (select p.lane from parking p where p.id = -live.lane)
    where job_id in (select value from json_each(?1)) and lane < 0`,
  closeParkings: 'update parking set opens_at = ?2 where id = ?1',
  /** Without jobs. */
  dropParkings: `delete from parking where id = ?1
    and not exists (select 1 from live l where l.lane = -?1 and l.status = 'pending')`,
  openParkings: 'update parking set opens_at = 0 where meter in (select value from json_each(?1))',
  openDueParkings: 'update parking set opens_at = 0 where opens_at > 0 and opens_at <= ?1',
  nextOpening: `select min(p.opens_at) as at from parking p where p.opens_at > ?1 and p.opens_at < ${NEVER_OPENS}
    and exists (select 1 from live l where l.lane = -p.id and l.status = 'pending')`,
  parkedToSkip: `select l.job_id from parking p join live l on l.lane = -p.id and l.status = 'pending' where p.skips
    order by l.job_id limit ?1`,
  holders: `select s.job_id from metered_start s where s.name = ?1 and ${runs} order by s.job_id limit ?2`,
  countAheadAt: `select count(*) as count from (
    select 1 from parking p join live l on l.lane = -p.id and l.status = 'pending' where p.meter = ?1 and not p.skips
      and (l.rank, l.turn, l.due, l.job_id) < (?2, ?3, ?4, ?5) limit ?6)`,
  limits: `select n.name, (select m.max from meter m where m.name = n.name) as max, ${running('n.name')} as running,
      ${waiting('n.name')} as waiting
    from (select name from meter where max is not null union select s.name from metered_start s where ${runs}
      union select meter from parking) n
    where n.name like 'limit:%' and (?1 is null or n.name = ?1)
      and (max is not null or running > 0 or waiting > 0 or ?1 is not null) order by n.name`,
  queueHasPending: `select 1 from any_lane n where n.queue = ?1
    and exists (select 1 from live l where l.lane = n.id and l.status = 'pending') limit 1`,
  setLimit: 'insert into meter (name, max) values (?1, ?2) on conflict (name) do update set max = excluded.max',
  rates: `select n.name, (select m.opens_at from meter m where m.name = n.name and m.opens_at > ?2) as opens_at,
      ${started('n.name', '?2')} as started, ${waiting('n.name')} as waiting
    from (select name from meter union select meter from parking) n
    where n.name like 'rate:%' and (?1 is null or n.name = ?1)
      and (opens_at is not null or started > 0 or waiting > 0 or ?1 is not null) order by n.name`,
  closeRate: `insert into meter (name, opens_at) values (?1, ?2)
    on conflict (name) do update set opens_at = max(coalesce(opens_at, 0), excluded.opens_at)`,
  pruneStarts: `delete from metered_start as s where (s.name like 'limit:%' and not ${runs}) or (s.name not like 'limit:%'
      and s.at <= ?1 - coalesce((select m.window_ms from meter m where m.name = s.name), 0))`,
  pruneMeters: `delete from meter where max is null and name not like 'queue:%' and coalesce(opens_at, 0) <= ?1
    and not exists (select 1 from metered_start s where s.name = meter.name)
    and not exists (select 1 from parking p where p.meter = meter.name)`,
} satisfies Twins<'meters'>;
