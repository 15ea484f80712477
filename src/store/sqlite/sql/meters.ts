/** Limits and rates: what is in use of them, and the jobs that wait for them. */

import { UNKNOWN_WINDOW_MS } from '../../../core/meter.ts';
import type { Twins } from '../../statements.ts';

/** `parking.opens_at` until a running job ends. */
export const NEVER_OPENS = Number.MAX_SAFE_INTEGER;

/** True if start `s` is of an attempt that still runs. */
const runs = `exists (select 1 from live l where l.job_id = s.job_id and l.attempt = s.attempt and l.status = 'running')`;

/** True of start `s` if no limit and no window counts it any more. */
const isLeft = (now: string) => `((s.name like 'limit:%' and not ${runs}) or (s.name not like 'limit:%'
      and s.at <= ${now} - coalesce((select m.window_ms from meter m where m.name = s.name), ${UNKNOWN_WINDOW_MS})))`;
const isUnused = (now: string) => `m.max is null and m.name not like 'queue:%' and coalesce(m.opens_at, 0) <= ${now}
    and not exists (select 1 from metered_start s where s.name = m.name)
    and not exists (select 1 from parking p where p.meter = m.name)`;

export const metersSql = {
  metersOfJobs: `select j.id, j.spec ->> 'limits' as limits, j.spec ->> 'rates' as rates, j.spec ->> 'on_limit' as on_limit
    from json_each(?1) i join job j on j.id = i.value`,
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
  leftStarts: `select distinct s.name from metered_start s where ${isLeft('?1')} limit ?2`,
  pruneStarts: `delete from metered_start as s where s.name in (select value from json_each(?2)) and ${isLeft('?1')}
    returning name`,
  unusedMeters: `select m.name from meter m where ${isUnused('?1')} limit ?2`,
  pruneMeters: `delete from meter as m where m.name in (select value from json_each(?2)) and ${isUnused('?1')}`,

  // SQLite only: a claim writes without waiting, and PostgreSQL's locks its meters by it.
  noteWindows: `insert into meter (name, window_ms) values (?1, ?2)
    on conflict (name) do update set window_ms = max(window_ms, excluded.window_ms)`,
} satisfies Twins<'meters'>;
