/**
 * Schedules, their lines and their ledger.
 *
 * A schedule's row is its lock, and comes before all locks of jobs. Its lines and its ledger change under it. Values
 * that decide are read in a later statement than the lock.
 */

import type { Twins } from '../../statements.ts';
import { instant, nowIn } from './instants.ts';
import { isFinal, statusOf } from './standing.ts';

export function schedulesSql(s: string) {
  const now = nowIn(s);
  const scheduleColumns = `s.id, s.name, s.owner, s.spec, s.created_at, s.updated_at, s.paused_at, s.paused_note, s.last_run,
    s.last_verdict, s.last_job_id, s.last_workflow_id`;
  const tickColumns = `id, schedule_id, kind, key, scheduled_for, through, count, verdict, job_id, workflow_id, lateness_ms,
    created_at`;

  return {
    schedule: `select ${schedulesFrom(s)} where s.name = $1`,
    insertSchedule: `insert into ${s}.schedule (id, name, owner, spec, created_at, updated_at)
      values (nextval('${s}.schedule_id'), $1, $2, $3, ${instant('$4::float8')}, ${instant('$4::float8')})
      on conflict (name) do nothing returning id`,
    updateSchedule: `update ${s}.schedule set owner = $2, spec = $3, updated_at = ${instant('$4::float8')},
        paused_at = ${instant('$5::float8')}, paused_note = $6 where id = $1`,
    deleteSchedule: `with gone as (delete from ${s}.schedule where id = $1)
      delete from ${s}.schedule_line where schedule_id = $1`,
    /** The rows are locked, and the values were computed from theirs. */
    noteLast: `update ${s}.schedule s set last_run = ${instant('i.last_run')}, last_verdict = i.last_verdict,
        last_job_id = i.last_job_id, last_workflow_id = i.last_workflow_id
      from jsonb_to_recordset($1::jsonb) i(id bigint, last_run float8, last_verdict text, last_job_id bigint,
        last_workflow_id bigint)
      where s.id = i.id`,
    insertLines: `insert into ${s}.schedule_line (id, schedule_id, key, cursor, next_due)
      select nextval('${s}.schedule_line_id'), $1, i.key, ${instant('$3::float8')}, ${instant('$4::float8')}
      from unnest($2::text[]) with ordinality i(key, place) order by i.place`,
    linesOf: `select * from ${s}.schedule_line where schedule_id = $1 order by id`,
    moveLines: `update ${s}.schedule_line l set cursor = ${instant('i.cursor')}, next_due = ${instant('i.next_due')},
        tail_id = i.tail_id, tail_verdict = i.tail_verdict
      from jsonb_to_recordset($1::jsonb) i(id bigint, cursor float8, next_due float8, tail_id bigint, tail_verdict text)
      where l.id = i.id`,
    /** $2 the cursor of the line when it failed. */
    postponeLine: `with ${now} update ${s}.schedule_line l set next_due = t.now + $3::float8 * interval '1 ms'
      from t where l.id = $1 and l.cursor = ${instant('$2::float8')}`,
    deleteLines: `delete from ${s}.schedule_line where id = any($1::bigint[])`,
    /** The only query of an idle instance. */
    lookDue: `select (select min(next_due) from ${s}.schedule_line where next_due is not null) as next_due,
      exists (select 1 from ${s}.tick where stops is not null) as stops, ${s}.now() as now`,
    /** $1 limit. */
    dueLines: `with ${now}
      select l.id as line, l.schedule_id as id, l.next_due as due, t.now, s.name from t, lateral (
        select l.id, l.schedule_id, l.next_due from ${s}.schedule_line l where l.next_due <= t.now
        order by l.next_due, l.id limit $1) l join ${s}.schedule s on s.id = l.schedule_id
      order by l.next_due, l.id`,
    openRuns: `select line, job_id, null::bigint as workflow_id from ${s}.live where line = any($1::bigint[])
      union all select line, null, id from ${s}.workflow where line = any($1::bigint[]) and ended_at is null
      order by 1, 2, 3`,
    /** Steps that are not done. */
    unfinishedSteps: `select j.id, j.workflow_id from ${s}.job j where j.workflow_id = any($1::bigint[])
      and j.group_id is null and not exists (select 1 from ${s}.run r where r.job_id = j.id and r.status = 'done')
      order by j.id`,
    setLines: `update ${s}.live l set line = i.line from unnest($1::bigint[], $2::bigint[]) i(job_id, line)
      where l.job_id = i.job_id`,
    setWorkflowLine: `update ${s}.workflow set line = $2 where id = $1`,
    /** Ids are given in the order of the rows. */
    insertTicks: `with ${now},
      input as materialized (
        select nextval('${s}.tick_id') as id, i.* from (
          select * from jsonb_to_recordset($1::jsonb) i(place integer, schedule_id bigint, kind text, key text,
            scheduled_for float8, through float8, count bigint, verdict text, job_id bigint, workflow_id bigint,
            lateness_ms bigint, stops jsonb) order by place) i),
      stored as (
        insert into ${s}.tick (${tickColumns}, stops)
        select id, schedule_id, kind, key, ${instant('scheduled_for')}, ${instant('through')}, count, verdict, job_id,
          workflow_id, lateness_ms, t.now, stops from input, t
        returning ${tickColumns})
      select * from stored order by id`,
    addToTicks: `with ${now}
      update ${s}.tick k set through = ${instant('i.through')}, count = k.count + i.count, created_at = t.now
      from t, jsonb_to_recordset($1::jsonb) i(id bigint, through float8, count bigint) where k.id = i.id
      returning k.id`,
    ticksByIds: `select ${tickColumns} from ${s}.tick where id = any($1::bigint[]) order by id`,
    ranTicks: `select scheduled_for from ${s}.tick where schedule_id = $1 and key = $2
      and scheduled_for between ${instant('$3::float8')} and ${instant('$4::float8')} and kind <> 'manual' and verdict = 'ran'`,
    stops: `select id, stops from ${s}.tick where stops is not null order by id limit 1000`,
    stopped: `update ${s}.tick set stops = null where id = any($1::bigint[])`,
    pruneTicks: `delete from ${s}.tick where id = any(array(
      select id from ${s}.tick where created_at < (select ${s}.now()) - $1::float8 * interval '1 ms'
      order by created_at limit $2 for update skip locked)) returning id`,
    recentTicks: `select s.name as schedule, k.* from ${s}.schedule s cross join lateral (
        select ${tickColumns} from ${s}.tick where schedule_id = s.id and created_at >= ${instant('$2::float8')}
        order by id desc limit $3) k
      where s.name = any($1::text[]) order by k.id desc`,
    runStates: `select k.id, coalesce(${statusOf('l')}, r.status, w.status, k.outcome) as status,
        case when l.job_id is null then coalesce(r.started_at, w.started_at) else l.started_at end as started_at,
        case when l.job_id is null then coalesce(r.ended_at, w.ended_at) end as ended_at
      from ${s}.tick k left join ${s}.live l on l.job_id = k.job_id
        left join ${s}.run r on r.job_id = k.job_id and ${isFinal('r')} left join ${s}.workflow w on w.id = k.workflow_id
      where k.id = any($1::bigint[]) and coalesce(${statusOf('l')}, r.status, w.status, k.outcome) is not null`,

    // PostgreSQL only: a schedule's row is its lock.
    /** A call that waited for the lock gets the current row. */
    lockSchedule: `select ${scheduleColumns}, null as next_due from ${s}.schedule s where s.name = $1 for update`,
    lockSchedules: `select ${scheduleColumns}, null as next_due from ${s}.schedule s where s.id = any($1::bigint[])
      order by s.id for update skip locked`,
    /**
     * $1 lines, $2 their locked schedules, $3 now. Lines are found by id: a search for due lines per schedule would scan all
     * due lines once for each of a thousand schedules while statistics are stale.
     */
    stillDue: `select l.* from ${s}.schedule_line l where l.id = any($1::bigint[])
        and l.schedule_id = any($2::bigint[]) and l.next_due <= ${instant('$3::float8')}
      order by l.next_due, l.id`,
  } satisfies Twins<'schedules'>;
}

/** The tables of a list of schedules. */
export function schedulesFrom(s: string): string {
  return `s.id, s.name, s.owner, s.spec, s.created_at, s.updated_at, s.paused_at, s.paused_note, s.last_run, s.last_verdict,
      s.last_job_id, s.last_workflow_id,
      (select min(l.next_due) from ${s}.schedule_line l where l.schedule_id = s.id) as next_due
    from ${s}.schedule s`;
}
