/** Workflows with the counts of their steps. */

import { nowIn } from './instants.ts';

export function workflowsSql(s: string) {
  const now = nowIn(s);

  return {
    insertWorkflow: `with ${now}
      insert into ${s}.workflow (id, name, params, status, created_at, rerun_of, total, open_steps, notify,
        definition, definition_version, submitted_by)
      select nextval('${s}.workflow_id'), $1, $2, 'pending', t.now, $3, $4, $4, $5, $6, $7, $8 from t returning id, created_at`,
  };
}
