/** Schedules, their lines and their ledger. */

import type { Twins } from '../../statements.ts';

const scheduleColumns = `s.id, s.name, s.owner, s.spec, s.created_at, s.updated_at, s.paused_at, s.paused_note, s.last_run,
  s.last_verdict, s.last_job_id, s.last_workflow_id`;
const nextDue = '(select min(next_due) from schedule_line l where l.schedule_id = s.id) as next_due';
const tickColumns = `id, schedule_id, kind, key, scheduled_for, through, count, verdict, job_id, workflow_id, lateness_ms,
  created_at`;

/** The tables of a list of schedules. */
export const schedulesFrom = `${scheduleColumns}, ${nextDue} from schedule s`;
/** The table of a list of ticks. */
export const ticksFrom = `${tickColumns} from tick`;

export const schedulesSql = {
  schedule: `select ${schedulesFrom} where s.name = ?`,
  insertSchedule: `insert into schedule (name, owner, spec, created_at, updated_at) values (?1, ?2, ?3, ?4, ?4)
    on conflict (name) do nothing`,
  updateSchedule:
    'update schedule set owner = ?2, spec = ?3, updated_at = ?4, paused_at = ?5, paused_note = ?6 where id = ?1',
  deleteSchedule: 'delete from schedule where id = ?',
  noteLast:
    'update schedule set last_run = ?2, last_verdict = ?3, last_job_id = ?4, last_workflow_id = ?5 where id = ?1',
  insertLines: 'insert into schedule_line (schedule_id, key, cursor, next_due) values (?, ?, ?, ?)',
  linesOf: 'select * from schedule_line where schedule_id = ? order by id',
  moveLines: 'update schedule_line set cursor = ?2, next_due = ?3, tail_id = ?4, tail_verdict = ?5 where id = ?1',
  postponeLine: 'update schedule_line set next_due = ?2 where id = ?1',
  deleteLines: 'delete from schedule_line where id = ?',
  lookDue: 'select min(next_due) as due from schedule_line where next_due is not null',
  dueLines: 'select * from schedule_line where next_due <= ?1 order by next_due, id limit ?2',
  /** Jobs before workflows, each by id. */
  openRuns: `select job_id, null as workflow_id from live where line = ?1
    union all select null, id from workflow where line = ?1 and ended_at is null order by 1, 2`,
  /** Steps that are not done. */
  unfinishedSteps: `select j.id from job j where j.workflow_id = ? and j.group_id is null
    and not exists (select 1 from run r where r.job_id = j.id and r.status = 'done') order by j.id`,
  setLines: 'update live set line = ?2 where job_id = ?1',
  setWorkflowLine: 'update workflow set line = ?2 where id = ?1',
  insertTicks: `insert into tick (schedule_id, kind, key, scheduled_for, through, count, verdict, job_id, workflow_id,
    lateness_ms, created_at, stops) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addToTicks: 'update tick set through = ?2, count = count + ?3, created_at = ?4 where id = ?1',
  ticksByIds: `select ${ticksFrom} where id in (select value from json_each(?)) order by id`,
  ranTicks: `select scheduled_for from tick where schedule_id = ?1 and key = ?2 and scheduled_for >= ?3
    and scheduled_for <= ?4 and kind <> 'manual' and verdict = 'ran'`,
  stops: 'select id, stops from tick where stops is not null order by id limit 1000',
  stopped: 'update tick set stops = null where id in (select value from json_each(?))',
  pruneTicks: `delete from tick where id in (
    select id from tick where created_at < ?1 order by created_at limit ?2)`,
  recentTicks: `select s.name as schedule, k.* from schedule s join tick k on k.id in (
      select id from tick where schedule_id = s.id and created_at >= ?2 order by id desc limit ?3)
    where s.name in (select value from json_each(?1)) order by k.id desc`,
  runStates: `select k.id, coalesce(l.status, r.status, w.status, k.outcome) as status,
      iif(l.job_id is null, coalesce(r.started_at, w.started_at), l.started_at) as started_at,
      iif(l.job_id is null, coalesce(r.ended_at, w.ended_at), null) as ended_at
    from json_each(?) i join tick k on k.id = i.value left join live l on l.job_id = k.job_id
      left join run r on r.job_id = k.job_id and r.status is not null left join workflow w on w.id = k.workflow_id
    where coalesce(l.status, r.status, w.status, k.outcome) is not null`,

  // SQLite only: rows are read one by one.
  lastRunOf: `select last_run as lastRun, last_verdict as lastVerdict, last_job_id as lastJobId,
    last_workflow_id as lastWorkflowId from schedule where id = ?`,
  scheduleById: `select ${scheduleColumns} from schedule s where s.id = ?`,
  deleteLinesOf: 'delete from schedule_line where schedule_id = ?',
  tick: `select ${ticksFrom} where id = ?`,
} satisfies Twins<'schedules'>;
