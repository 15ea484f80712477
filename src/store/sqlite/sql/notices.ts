/** Notices, notifications and alarms. */

import type { Twins } from '../../statements.ts';

export const noticesSql = {
  notices: `select * from notice where coalesce(look_at, due) <= ?1 order by coalesce(look_at, due), id limit ?2`,
  postponeNotice: 'update notice set look_at = ?2 where id = ?1',
  takeNotice: 'delete from notice where id = ? returning *',
  raiseAlarm: `insert into alarm (subject, raised_at) values (?1, ?2)
    on conflict (subject) do update set raised_at = excluded.raised_at`,
  clearAlarm: 'delete from alarm where subject = ?',
  insertNotifications: `insert into notification (job_id, event, subject_job_id, workflow_id, schedule, created_at)
    values (?, ?, ?, ?, ?, ?)`,
  notifications: `select * from notification
    where subject_job_id = ?1 or workflow_id = ?2 or schedule = ?3 or job_id = ?4 order by job_id`,

  // SQLite only: missed ticks are merged into a notice that is read first.
  insertNotice: `insert into notice (kind, due, created_at, job_id, workflow_id, status, schedule, detail)
    values (?, ?, ?, ?, ?, ?, ?, ?)`,
  untoldMissed: `select id, detail from notice where kind = 'missed' and schedule = ?`,
  setNoticeDetail: 'update notice set detail = ?2 where id = ?1',
} satisfies Twins<'notices'>;
