/** New jobs without parents, and jobs that replace a waiting one. */

import { FLAG } from '../../flags.ts';
import { newClaimIn, order } from './claim.ts';
import { epochMs, nowIn } from './instants.ts';
import { hasPlaceIn, isOpenIn, mayClaimIn } from './may-claim.ts';
import { isPending } from './standing.ts';

/** The flags that follow from the job's new fields when it is replaced. */
const REPLACED =
  FLAG.holdsKey |
  FLAG.notifiesFailure |
  FLAG.notifiesSuccess |
  FLAG.notifiesCancel |
  FLAG.neverPrefetched |
  FLAG.hasNoStartTimeout |
  FLAG.hasLimits;

export function insertSql(s: string) {
  const now = nowIn(s);
  const isOpen = isOpenIn(s);
  const newClaim = newClaimIn(s);
  const mayClaim = mayClaimIn(s);

  /** The due time of a job that is submitted at t. */
  const dueOf = (runAt: string, delayMs: string) => `greatest(t.now,
          coalesce(to_timestamp(${runAt} / 1000.0), t.now + ${delayMs} * interval '1 ms', t.now))::timestamptz(3)`;
  /**
   * `input`: new jobs that differ only in their specs; inserts their rows of `job`. `alike`: the values that they share,
   * computed once.
   */
  const newAlike = `${now},
      alike as materialized (
        select t.now::timestamptz(3) as now, d.due, case when d.due > t.now then 'scheduled' else 'pending' end as status,
          (d.due + $10::float8 * interval '1 ms')::timestamptz(3) as expires_at
        from t, lateral (select ${dueOf('$8::float8', '$9::float8')} as due) d),
      input as materialized (
        select nextval('${s}.job_id') as id, i.spec, i.place
        from jsonb_array_elements($6::jsonb) with ordinality i(spec, place)),
      jobs as (
        insert into ${s}.job (id, queue, kind, name, priority, tags, created_at, spec)
        select i.id, $1::text, $2::text, $3::text, $4::smallint, $5::text[], a.now, i.spec from alike a, input i)`;
  const newIds = `array_agg(id order by place) as ids, (select ${epochMs('now')} from t) as now,
        (select array_agg(name) from ${s}.fair_queue) as fair`;

  return {
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
        insert into ${s}.live (job_id, listed_as, lane, rank, due, expires_at, flags)
        select id, case when due > t.now then 'scheduled' else 'pending' end, lane, -priority::integer, due,
          due + start_timeout_ms * interval '1 ms', flags
        from input, t)
      select ${newIds} from input`,
    setRerunOf: `update ${s}.job set rerun_of = $2 where id = any($1::bigint[])`,
    replaceJob: `update ${s}.job set queue = $2, kind = $3, name = $4, priority = $5, tags = $6, spec = $7 where id = $1`,
    replaceLive: `with ${now}
      update ${s}.live l
      set lane = $2, rank = $3, turn = 0, fair_key = null, due = d.due, flags = l.flags & ~${REPLACED} | $7::integer,
        listed_as = case when d.due > t.now then 'scheduled' else 'pending' end,
        expires_at = d.due + $6::float8 * interval '1 ms', failures = null, interruptions = null, snoozes = null, losses = null
      from t, lateral (select greatest(t.now, least(
        coalesce(to_timestamp($4::float8 / 1000.0), t.now + $5::float8 * interval '1 ms', t.now),
        (select j.created_at + $8::float8 * interval '1 ms' from ${s}.job j where j.id = $1))) as due) d
      where l.job_id = $1`,

    // PostgreSQL only: the frequent kinds of submit, each in one round trip.
    insertAlike: `with ${newAlike},
      lives as (
        insert into ${s}.live (job_id, listed_as, lane, rank, due, expires_at, flags)
        select i.id, a.status, $7::integer, -$4::smallint::integer, a.due, a.expires_at, $11::integer from alike a, input i)
      select ${newIds} from input`,
    /**
     * insertAlike while worker $12 waits with its claim $13 for up to $14 jobs of lanes $15: due jobs start as running if
     * no job is pending in any of these lanes and no lane newer than $16 exists, which this process would not know.
     */
    insertAndClaim: `with ${newAlike},
      room as materialized (
        select case when ${mayClaim('$12', '(select now from t)')}
          and ${isOpen('$7::integer', 'true')} and not ${hasPlaceIn(s)('p.worker_id = $12')}
          and not exists (select 1 from ${s}.lane where id > $16)
          and not exists (
            select 1 from unnest($15::integer[]) u(lane) cross join lateral (
              select 1 from ${s}.live l where ${isPending('l')} and l.lane = u.lane order by ${order} limit 1) c)
          then $14::integer else 0 end as n),
      lives as (
        insert into ${s}.live (job_id, listed_as, claimed, lane, rank, due, expires_at, flags, attempt, worker_id, started_at)
        select i.id, a.status, c.starts, $7::integer, -$4::smallint::integer, a.due, a.expires_at, $11::integer,
          c.starts::integer, case when c.starts then $12::integer end, case when c.starts then a.now end
        from alike a, room, input i, lateral (select a.due <= a.now and i.place <= room.n as starts) c
        returning job_id, claimed),
      ${newClaim('select array_agg(job_id) as job_ids from lives where claimed', { worker: '$12', seq: '$13', ended: '$17' })}
      select ${newIds}, (select n from room) as room, (select id from claim) as claim from input`,
  };
}
