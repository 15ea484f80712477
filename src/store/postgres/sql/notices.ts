/** Notices of ends. */

import { nowIn } from './instants.ts';

export function noticesSql(s: string) {
  return {
    /** $1 jobs or null, $2 workflows or null, $3 the status in which they ended. */
    insertEndNotices: `with ${nowIn(s)}
      insert into ${s}.notice (kind, due_at, created_at, job_id, workflow_id, status, detail)
      select 'ended', t.now, t.now, i.job_id, i.workflow_id, i.status, '{}'
      from t, unnest($1::bigint[], $2::bigint[], $3::text[]) with ordinality i(job_id, workflow_id, status, place)
      order by i.place`,
  };
}
