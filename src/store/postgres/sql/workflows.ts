/** Workflows with the counts of their steps. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

export function workflowsSql(s: string) {
  const now = nowIn(s);

  return {
    insertWorkflow: `with ${now}
      insert into ${s}.workflow (id, name, params, status, created_at, rerun_of, total, open_steps, notify,
        definition, definition_version, submitted_by)
      select nextval('${s}.workflow_id'), $1, $2, 'pending', t.now, $3, $4, $4, $5, $6, $7, $8 from t returning id, created_at`,
    writeWorkflows: `update ${s}.workflow w
      set open_steps = i.open, fine_steps = i.fine, failed_steps = i.failed, cancelled_steps = i.cancelled,
        status = i.status, ended_at = case when i.open = 0 then to_timestamp($7::float8 / 1000.0) end
      from unnest($1::bigint[], $2::integer[], $3::integer[], $4::integer[], $5::integer[], $6::text[])
        i(id, open, fine, failed, cancelled, status)
      where w.id = i.id`,

    // PostgreSQL only: insertLinked inserts steps, and they are read like other jobs.
    lockWorkflows: `select id, notify, started_at, open_steps, fine_steps, failed_steps, cancelled_steps from ${s}.workflow
      where id = any($1::bigint[]) order by id for update`,
  } satisfies Twins<'workflows'>;
}
