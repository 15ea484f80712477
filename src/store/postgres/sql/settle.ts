/** Settles successful attempts. */

import { FLAG, LINKED } from '../../flags.ts';
import { began, isHeld } from './heartbeat.ts';
import { epochMs, nowIn } from './instants.ts';
import { freeKeysIn } from './keys.ts';

/** Jobs that do not end in one statement. */
const NOT_SIMPLE = LINKED | FLAG.member;

/** The columns of the live row that the end of a job needs. */
const columns = (
  beganAt: string,
) => `l.job_id, l.attempt, l.lane, l.due, l.failures, l.interruptions, l.snoozes, l.losses,
          l.flags, l.worker_id, coalesce(l.started_at, ${began(beganAt)}) as started_at, l.cancel_requested_at`;

export function settleSql(s: string) {
  const now = nowIn(s);
  const freeKeys = freeKeysIn(s);

  /**
   * Ends jobs that are not linked to others: those that `gone` deletes. The caller sorts the jobs by id, so that rows are locked
   * in that order. The answer is one row of arrays, because a row per job would cost as much as its end.
   */
  const settle = (gone: string, answer: string) => `with ${now},
      ${gone},
      runs as (
        insert into ${s}.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, cpu_ms, max_rss, exit_code,
          attempts, failures, interruptions, snoozes, losses, cancel_requested_at)
        select job_id, attempt, 'done', 'done', worker_id, started_at, (select now from t), due, cpu_ms, max_rss, exit_code, attempt,
          failures, interruptions, snoozes, losses, cancel_requested_at
        from gone),
      ${freeKeys('gone', `g.flags & ${FLAG.holdsKey} <> 0 and u.hold <> 'time'`)}
      select (select ${epochMs('now')} from t) as now, ${answer}`;
  /** `none` is the constant 0 as a column: compared with a literal, the planner would expect no row to match and choose a bad plan. */
  const each = `input as materialized (
        select i.*, 0 as none from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::jsonb[], $6::float8[],
            $7::bigint[], $8::bigint[]) i(job_id, attempt, worker_id, exit_code, result, began_at, cpu_ms, max_rss)),
      gone as (
        delete from ${s}.live l using input i
        where ${isHeld} and l.flags & ${NOT_SIMPLE} = i.none
        returning ${columns('i.began_at')}, i.exit_code, i.cpu_ms, i.max_rss, i.result),
      results as (
        insert into ${s}.result (job_id, value)
        select job_id, result from gone where cardinality($5::jsonb[]) > 0 and result is not null)`;
  /** One scan of the index in the order of the ids, instead of a search for each job. */
  const alike = `gone as (
        delete from ${s}.live l
        where l.job_id = any($1::bigint[]) and l.attempt = $2 and l.worker_id = $3 and l.claimed and l.flags & ${NOT_SIMPLE} = 0
        returning ${columns('($5::float8[])[width_bucket(l.job_id, $1::bigint[])]')}, $4::integer as exit_code,
          null::bigint as cpu_ms, null::bigint as max_rss)`;
  const idsUnlessAll = `case when n.count < cardinality($1::bigint[])
          then (select coalesce(array_agg(job_id), '{}') from gone) end as ids
      from (select count(*) as count from gone) n`;

  return {
    settledBefore: `select r.job_id, r.attempt, r.worker_id, j.queue, r.due, r.started_at, r.ended_at
      from ${s}.run r join ${s}.job j on j.id = r.job_id where r.job_id = any($1::bigint[]) and r.status = 'done'`,

    // PostgreSQL only: one statement writes everything that a batch of ends changes.
    /** Answers with everything that the end of a job is answered with. */
    settle: settle(
      each,
      `array_agg(job_id) as ids, array_agg(attempt) as attempts, array_agg(worker_id) as workers,
        array_agg(lane) as lanes, array_agg(${epochMs('due')}) as dues, array_agg(${epochMs('started_at')}) as starts
      from gone`,
    ),
    /** For jobs of which the caller knows everything else: answers with ids only if not all of them were ended. */
    settleKnown: settle(each, idsUnlessAll),
    /** settleKnown for jobs without results and usage: $1 sorted ids, $2 their attempt, $3 their worker, $4 their exit code, $5 their starts. */
    settleAlike: settle(alike, idsUnlessAll),
    /** Linked jobs and their children. Unique keys are released last. */
    settleLinked: `select * from ${s}.end_linked($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  };
}
