/** Places of gangs. */

import type { Twins } from '../../statements.ts';
import { epochMs, instant, nowIn } from './instants.ts';
import { isOpenIn, mayClaimIn } from './may-claim.ts';
import { isPending, liveOf } from './standing.ts';

export function gangsSql(s: string) {
  const now = nowIn(s);

  return {
    /** $1 the lanes of gangs, $3 true: also of paused queues. */
    waitingMembers: `with ${now}
      select l.job_id as id, l.lane, -l.rank as priority, ${epochMs('l.due')} as due, coalesce(l.failures, 0) as failures, j.spec -> 'gang' as gang,
        (l.attempt > 0 or exists (select 1 from ${s}.gang g where g.id = j.spec -> 'gang' ->> 'id')) as begun, ${epochMs('t.now')} as now
      from t, ${s}.live l cross join lateral (select j.spec from ${s}.job j where j.id = l.job_id offset 0) j
      where ${isPending('l')} and l.lane = any($1::integer[]) and ($3 or ${isOpenIn(s)('l.lane', 'false')})
        and not exists (select 1 from ${s}.place p where p.job_id = l.job_id)
      order by l.rank, l.due, l.job_id limit $2`,
    places: `select p.job_id, p.gang_id, p.rank, p.size, p.worker_id, p.accepted, p.started,
        ${epochMs('p.until')} as until, p.success, n.id as lane_id, n.key
      from ${s}.place p left join lateral ${liveOf(s, 'p.job_id')} l on ${isPending('l')}
        left join ${s}.lane n on n.id = l.lane
      order by p.gang_id, p.rank`,
    insertPlaces: `insert into ${s}.place (job_id, gang_id, rank, size, worker_id, accepted, started, until)
      select i.job_id, i.gang_id, i.rank, i.size, i.worker_id, i.worker_id is null, false, ${instant('i.until')}
      from unnest($1::bigint[], $2::text[], $3::integer[], $4::integer[], $5::integer[], $6::float8[])
        i(job_id, gang_id, rank, size, worker_id, until)`,
    /** $1 jobs, $2 their worker: one that is silent or drains accepts nothing. */
    acceptPlaces: `update ${s}.place set accepted = true
      where job_id = any($1::bigint[]) and ${mayClaimIn(s)('$2', `(select ${s}.now())`)} returning job_id`,
    startPlaces: `update ${s}.place set started = true where job_id = any($1::bigint[])`,
    gangs: `select id, job_id, term, failures, charged, stops, stopping from ${s}.gang where id = any($1::text[]) order by id`,
    storeGangs: `insert into ${s}.gang (id, job_id, term, failures, charged, stops, stopping)
      select i.*, false
      from unnest($1::text[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[], $6::integer[]) i
      on conflict (id) do update set job_id = excluded.job_id, term = excluded.term, failures = excluded.failures,
        charged = excluded.charged, stops = excluded.stops, stopping = false`,
    stopGang: `update ${s}.gang set stopping = true, stops = stops + 1
      where id = $1 and term = $2 and not stopping returning id`,
    closePlaces: `update ${s}.place set started = true where gang_id = $1`,
    holdMembers: `update ${s}.live set listed_as = 'blocked', claimed = false, renewed_at = null where job_id = any($1::bigint[])`,
    noteSuccesses: `update ${s}.place p set success = i.success
      from unnest($1::bigint[], $2::jsonb[]) i(job_id, success) where p.job_id = i.job_id`,
    dropPlaces: `delete from ${s}.place p using ${s}.gang g,
        unnest($1::text[], $2::integer[], $3::boolean[]) i(gang_id, term, unless_started)
      where p.gang_id = i.gang_id and g.id = i.gang_id and g.term = i.term
        and not (i.unless_started and exists (select 1 from ${s}.place o where o.gang_id = i.gang_id and o.started))`,
    leavePlaces: `delete from ${s}.place where job_id = any($1::bigint[])`,
    /** $1 the gang to look after, $2 the number to look at. `last`: the last of them; null if they were the last of all. */
    pruneGangs: `with looked as materialized (select id from ${s}.gang where id > $1 order by id limit $2),
      gone as (
        delete from ${s}.gang g where g.id = any(array(select id from looked))
          and not exists (select 1 from ${s}.job j where j.id = g.job_id offset 0)
          and not exists (select 1 from ${s}.place p where p.gang_id = g.id) returning 1)
      select (select count(*) from gone) as count, case when count(*) = $2 then max(id) end as last from looked`,
    gangHosts: `select p.gang_id, p.rank, coalesce(w.profile ->> 'address', w.profile ->> 'host', '') as host
      from ${s}.place p left join ${s}.worker w on w.id = p.worker_id
      where p.gang_id = any($1::text[]) and p.worker_id is not null order by p.gang_id, p.rank`,

    // PostgreSQL only: there are several writers, and a result is written with the end.
    writeResults: `insert into ${s}.result (job_id, value) select * from unnest($1::bigint[], $2::jsonb[])`,
    /** A transaction that changes places holds this lock to its end. */
    lockPlaces: `lock table ${s}.place in share row exclusive mode`,
  } satisfies Twins<'gangs'>;
}
