/** Limits and rates: what is in use of them, and the jobs that wait for them. */

import { FLAG } from '../../flags.ts';
/** `parking.opens_at` until a running job ends. */
export const NEVER_OPENS = Number.MAX_SAFE_INTEGER;

export const metersSql = {
  /** A job with steps has started, and waits. */
  metersOfJobs: `select j.id, j.spec ->> 'limits' as limits, j.spec ->> 'rates' as rates,
      iif(l.flags & ${FLAG.hasSteps}, null, j.spec ->> 'on_limit') as on_limit
    from json_each(?1) i join job j on j.id = i.value left join live l on l.job_id = j.id`,
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
  /** Without jobs. */
  dropParkings: `delete from parking where id = ?1
    and not exists (select 1 from live l where l.lane = -?1 and l.status = 'pending')`,
  openParkings: 'update parking set opens_at = 0 where meter in (select value from json_each(?1))',

  // SQLite only: a claim writes without waiting, and PostgreSQL's locks its meters by it.
  noteWindows: `insert into meter (name, window_ms) values (?1, ?2)
    on conflict (name) do update set window_ms = max(window_ms, excluded.window_ms)`,
};
