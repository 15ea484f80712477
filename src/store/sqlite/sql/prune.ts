/** Retention. */

import type { Twins } from '../../statements.ts';

/** True for an ended job r that is not in a workflow and has no unfinished dependents. */
const standsAlone = `
  not exists (select 1 from job j where j.id = r.job_id and j.workflow_id is not null)
  and not exists (select 1 from edge e join live l on l.job_id = e.child_id where e.parent_id = r.job_id)`;

/** True for an ended workflow w if no unfinished job outside of it depends on one of its jobs. */
const isNotNeeded = `
  not exists (select 1 from job j join edge e on e.parent_id = j.id join live l on l.job_id = e.child_id
    where j.workflow_id = w.id)`;

/** True if the notifications of an end have not been written yet. */
const hasNotice = (column: string, id: string) =>
  `${id} in (select n.${column} from notice n where n.kind = 'ended' and n.${column} is not null)`;

/** A member of a gang has a place until the gang is over. */
const isPlaced = (id: string) => `exists (select 1 from place p where p.job_id = ${id})`;

export const pruneSql = {
  oldWorkflows: `select w.id from workflow w where w.ended_at < iif(w.status = 'done', ?1, ?2) and ${isNotNeeded}
    order by w.ended_at, w.id limit ?3`,
  workflowJobs: 'select id from job where workflow_id = ?',
  keepOutcomes: `update tick set outcome = r.status from run r
    where tick.job_id in (select value from json_each(?)) and r.job_id = tick.job_id and r.status is not null`,
  keepWorkflowOutcome: `update tick set outcome = w.status from workflow w where tick.workflow_id = ?1 and w.id = ?1`,
  pruneWorkflow: 'delete from workflow where id = ?',
  pruneWorkflowNotifications: 'delete from notification where workflow_id = ?',
  deletableJobs: `select r.job_id from run r where r.job_id in (select value from json_each(?))
    and r.status is not null and ${standsAlone} and not ${hasNotice('job_id', 'r.job_id')} 
    and not exists (select 1 from job j where j.id = r.job_id and j.spec -> 'gang' is not null)`,
  deletableWorkflow: `select 1 from workflow w where w.id = ? and w.ended_at is not null and ${isNotNeeded}
    and not ${hasNotice('workflow_id', 'w.id')} and not exists (
      select 1 from job j where j.workflow_id = w.id and (${hasNotice('job_id', 'j.id')} or ${isPlaced('j.id')}))`,
  pruneJobs: 'delete from job where id in (select value from json_each(?))',
  pruneKeys: 'delete from unique_key where expires_at <= ?',
  pruneIdempotency: 'delete from idempotency where created_at <= ?',
  pruneAlarms: 'delete from alarm where raised_at < ?',
  pruneStats: 'delete from stat where minute < ?',

  // SQLite only: the reader finds old jobs, the writer checks them again and deletes them table by table.
  /** The longest ended first, of the jobs up to ?3. Reads the index only. */
  oldDone: `select r.job_id from run r where r.status = 'done' and r.job_id <= ?3 and r.ended_at < ?1 and ${standsAlone}
    order by r.ended_at, r.job_id limit ?2`,
  oldUndone: `select r.job_id from run r where r.status in ('failed', 'cancelled', 'skipped') and r.job_id <= ?3
      and r.ended_at < ?1 and ${standsAlone}
    order by r.ended_at, r.job_id limit ?2`,
  /** The jobs among ?1 that are still ended and old: a job may have been retried meanwhile. */
  stillOld: `select i.value from json_each(?1) i join run r on r.job_id = i.value
    where r.status is not null and r.ended_at < iif(r.status = 'done', ?2, ?3) and ${standsAlone}`,
  stillOldWorkflows: `select w.id from json_each(?1) i join workflow w on w.id = i.value
    where w.ended_at < iif(w.status = 'done', ?2, ?3) and ${isNotNeeded}`,
  pruneProgress: 'delete from progress where job_id in (select value from json_each(?))',
  pruneCheckpoints: 'delete from checkpoint where job_id in (select value from json_each(?))',
  pruneGroups: 'delete from job_group where job_id in (select value from json_each(?))',
  pruneChildEdges: 'delete from edge where child_id in (select value from json_each(?))',
  pruneParentEdges: 'delete from edge where parent_id in (select value from json_each(?))',
  pruneRuns: 'delete from run where job_id in (select value from json_each(?))',
  pruneResults: 'delete from result where job_id in (select value from json_each(?))',
  pruneLogs: 'delete from log where job_id in (select value from json_each(?))',
  pruneNotifications: 'delete from notification where job_id in (select value from json_each(?))',
  pruneNotificationsOf: 'delete from notification where subject_job_id in (select value from json_each(?))',
  pruneKeysOf: 'delete from unique_key where job_id in (select value from json_each(?))',
} satisfies Twins<'prune'>;
