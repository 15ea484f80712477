/** Notices, notifications and alarms. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

export function noticesSql(s: string) {
  const now = nowIn(s);

  return {
    notices: `select * from ${s}.notice where coalesce(look_at, due) <= (select ${s}.now())
      order by coalesce(look_at, due), id limit $1`,
    postponeNotice: `with ${now} update ${s}.notice set look_at = t.now + $2::float8 * interval '1 ms' from t where id = $1`,
    takeNotice: `delete from ${s}.notice where id = $1 returning *`,
    raiseAlarm: `with ${now}
      insert into ${s}.alarm (subject, raised_at) select $1, t.now from t
      on conflict (subject) do update set raised_at = excluded.raised_at`,
    clearAlarm: `delete from ${s}.alarm where subject = $1 returning subject`,
    insertNotifications: `with ${now}
      insert into ${s}.notification (job_id, event, subject_job_id, workflow_id, schedule, created_at)
      select i.job_id, i.event, $3, $4, $5, t.now from t, unnest($1::bigint[], $2::text[]) i(job_id, event)`,
    notifications: `select * from ${s}.notification
      where subject_job_id = $1 or workflow_id = $2 or schedule = $3 or job_id = $4 order by job_id`,

    // PostgreSQL only: a unique index merges missed ticks of a schedule into one notice.
    /** $1 jobs or null, $2 workflows or null, $3 the status in which they ended. */
    insertEndNotices: `with ${now}
      insert into ${s}.notice (kind, due, created_at, job_id, workflow_id, status, detail)
      select 'ended', t.now, t.now, i.job_id, i.workflow_id, i.status, '{}'
      from t, unnest($1::bigint[], $2::bigint[], $3::text[]) with ordinality i(job_id, workflow_id, status, place)
      order by i.place`,
    /** $1 JSON rows, $2 how long missed ticks are merged. At most one missed row per schedule. Callers hold the schedule's lock. */
    insertTickNotices: `with ${now}
      insert into ${s}.notice as n (kind, due, created_at, job_id, workflow_id, schedule, detail)
      select i.kind, coalesce(to_timestamp(i.due_at / 1000.0), t.now + $2::float8 * interval '1 ms'), t.now, i.job_id,
        i.workflow_id, i.schedule, i.detail
      from t, jsonb_to_recordset($1::jsonb) i(kind text, due_at float8, job_id bigint, workflow_id bigint, schedule text,
        detail jsonb)
      on conflict (schedule) where kind = 'missed' do update set detail = jsonb_build_object(
        'scheduled_for', least(n.detail ->> 'scheduled_for', excluded.detail ->> 'scheduled_for'),
        'through', greatest(n.detail ->> 'through', excluded.detail ->> 'through'),
        'count', (n.detail ->> 'count')::bigint + (excluded.detail ->> 'count')::bigint,
        'verdict', excluded.detail ->> 'verdict')`,
  } satisfies Twins<'notices'>;
}
