/** Changes of jobs other than claim and settle: requeue, end, cancel, retry, edit. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { epochMs, nowIn } from './instants.ts';
import { liveOf, statusOf } from './standing.ts';

export function changeSql(s: string) {
  const now = nowIn(s);
  /** $1 JSON rows: fences with the changes; `held` are those that still match and are locked. */
  const fences = `job_id bigint, status text, attempt integer, worker_id integer, cancel_requested boolean, gang_stop boolean,
    failures integer, interruptions integer, snoozes integer, losses integer`;
  const sameCounters = (row: string) => `(${row}.cancel_requested_at is not null) = i.cancel_requested
      and coalesce(${row}.failures, 0) = i.failures and coalesce(${row}.interruptions, 0) = i.interruptions
      and coalesce(${row}.snoozes, 0) = i.snoozes and coalesce(${row}.losses, 0) = i.losses`;

  return {
    specs: `select id, queue, kind, name, priority, tags, spec from ${s}.job where id = any($1::bigint[])`,
    /** Rewrites the row whatever was edited: a claim that began before must miss it, not run the old job. */
    editLive: `with ${now}
      update ${s}.live l
      set lane = $2, rank = $3, due = coalesce(d.moved, l.due), turn = case when $6 then 0 else l.turn end,
        fair_key = case when not $6 then l.fair_key end, flags = l.flags & ~${FLAG.neverPrefetched | FLAG.hasNoStartTimeout} | $7::integer,
        listed_as = case when d.moved is null or l.listed_as = 'blocked' then l.listed_as
          when d.moved > t.now then 'scheduled' else 'pending' end,
        expires_at = case when d.moved is null or l.expires_at is null then l.expires_at
          else d.moved + $5::float8 * interval '1 ms' end
      from t, ${s}.job j, lateral (select case when $4::float8 is not null
        then greatest(to_timestamp($4::float8 / 1000.0), j.created_at) end as moved) d
      where l.job_id = $1 and j.id = l.job_id`,
    askToStop: `update ${s}.live l set cancel_requested_at = ${s}.now()
      where l.job_id = any($1::bigint[]) and ${statusOf('l')} = 'running' and l.cancel_requested_at is null
      returning l.job_id, l.worker_id`,

    // PostgreSQL only: a batch of changes is written by one statement, after the locks.
    /** Locks one job; graph/locks.ts locks several. */
    lockWaiting: `select job_id from ${s}.live where job_id = $1 and ${statusOf('live')} <> 'running' for update`,
    /** Runs in a later statement than the lock, so that it reads the rows that the lock protects. */
    change: `with ${now},
      held as materialized (
        select i.*, l.due, l.started_at, l.flags, l.cancel_requested_at, l.worker_id as held_by
        from jsonb_to_recordset($1::jsonb) i(${fences}, kind text, seen_at float8, to_failures integer,
          to_interruptions integer, to_snoozes integer, to_losses integer, delay_ms float8, to_status text, reason text,
          outcome text, exit_code integer, signal text, error text, thrown jsonb, cpu_ms bigint,
          max_rss bigint, keep_children boolean, stop_gang boolean, suspect boolean)
        cross join lateral ${liveOf(s, 'i.job_id')} l left join ${s}.worker w on w.id = l.worker_id
        where ${statusOf('l')} = i.status and l.attempt = i.attempt
          and (i.status <> 'running' or l.worker_id is not distinct from i.worker_id)
          and ${sameCounters('l')} and (l.flags & ${FLAG.gangStop} <> 0) = i.gang_stop and (i.seen_at is null or i.seen_at = coalesce(${epochMs('w.seen_at')}, 0))),
      flagged as (
        update ${s}.live l set cancel_requested_at = t.now, flags = l.flags & ~${FLAG.gangStop}
            | case when h.keep_children then ${FLAG.keepChildren} else 0 end | case when h.stop_gang then ${FLAG.gangStop} else 0 end
        from held h, t where l.job_id = h.job_id and h.kind = 'flag'),
      woken as (
        update ${s}.job_group f set needs_items = true from held h
        where f.job_id = h.job_id and h.kind = 'flag' and h.flags & ${FLAG.group} <> 0),
      requeued as (
        update ${s}.live l
        set listed_as = h.to_status, claimed = false, due = case when h.delay_ms = 0 then l.due else t.now + h.delay_ms * interval '1 ms' end,
          failures = nullif(h.to_failures, 0), interruptions = nullif(h.to_interruptions, 0),
          snoozes = nullif(h.to_snoozes, 0), losses = nullif(h.to_losses, 0), renewed_at = null,
          cancel_requested_at = null, flags = l.flags & ~(${FLAG.gangStop} | case when not h.suspect then ${FLAG.suspect} else 0 end)
            | case when h.suspect then ${FLAG.suspect} else 0 end, expires_at = case when h.outcome = 'returned' then l.expires_at end
        from held h, t where l.job_id = h.job_id and h.kind = 'requeue'),
      ended as (
        delete from ${s}.live l using held h where l.job_id = h.job_id and h.kind = 'end'),
      recorded as (
        insert into ${s}.run (job_id, attempt, outcome, worker_id, started_at, ended_at, exit_code, signal, error, thrown,
          cpu_ms, max_rss)
        select job_id, attempt, outcome, held_by, coalesce(started_at, t.now), t.now, exit_code, signal, error, thrown,
          cpu_ms, max_rss
        from held, t where kind = 'requeue'),
      finished as (
        insert into ${s}.run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code,
          signal, error, thrown, cpu_ms, max_rss, attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
        select job_id, case when outcome is null then 0 else attempt end, to_status, reason,
          coalesce(outcome, to_status), held_by, started_at, t.now, due, exit_code, signal, error, thrown, cpu_ms, max_rss, attempt,
          nullif(to_failures, 0), nullif(to_interruptions, 0), nullif(to_snoozes, 0), nullif(to_losses, 0), cancel_requested_at
        from held, t where kind = 'end')
      select h.job_id, h.kind, h.flags, t.now from held h, t`,
    editJob: `update ${s}.job set queue = $2, priority = $3, tags = $4, spec = $5 where id = $1`,
  } satisfies Twins<'change'>;
}
