/** Operations on many jobs, and statistics. */

import type { Twins } from '../../statements.ts';

export const operationsSql = {
  insertOperation: `insert into operation (action, filter, status, total, asked_by, created_at)
    values (?1, ?2, 'running', ?3, ?4, ?5)`,
  operation: 'select * from operation where id = ?',
  openOperations: `select * from operation where status = 'running' order by id`,
  advanceOperation: `update operation set cursor = ?3, changed = changed + ?4, skipped = skipped + ?5, status = ?6,
      ended_at = iif(?6 = 'running', null, ?7)
    where id = ?1 and cursor is ?2 and status = 'running'`,
  stats: `select minute, queue, outcome, instance_id, count, wait, run from stat where minute >= ?1 and minute < ?2
    order by minute, queue, outcome, instance_id`,

  // SQLite only: read, added to, and written back.
  stat: `select count, wait, run from stat where minute = ? and queue = ? and outcome = ? and instance_id = ?`,
  setStat: `insert or replace into stat (minute, queue, outcome, instance_id, count, wait, run)
    values (?, ?, ?, ?, ?, ?, ?)`,
} satisfies Twins<'operations'>;
