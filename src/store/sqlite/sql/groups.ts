/** Groups and their items. */

import type { Twins } from '../../statements.ts';

export const groupsSql = {
  insertGroups: 'insert into job_group (job_id, source, max_parallel, needs_items) values (?, ?, ?, ?)',
  groups: `select job_id, total, max_parallel, inserted, open_items as open, fine_items as fine, failed_items as failed,
      cancelled_items as cancelled
    from job_group where job_id = ?`,
  groupSource: 'select source, items, total from job_group where job_id = ?',
  setItems: 'update job_group set items = ?2, total = ?3 where job_id = ?1',
  /** ?1 the first id, ?2 the group, ?3 now, ?4 specs as text. */
  insertItems: `insert into job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, group_id,
      group_index)
    select ?1 + i.key, g.queue, g.kind, g.name, g.priority, ?5, ?3, i.value, g.workflow_id, g.step_key, g.id,
      f.inserted + i.key
    from json_each(?4) i cross join job g cross join job_group f where g.id = ?2 and f.job_id = ?2`,
  writeGroups: `update job_group set open_items = ?2, fine_items = ?3, failed_items = ?4, cancelled_items = ?5 where job_id = ?1`,
  firstFailures: `select j.group_index as "index", r.reason, r.error from job j join run r on r.job_id = j.id
    where j.group_id = ? and r.status = 'failed' order by j.group_index limit 1`,
  resultOf: 'select value from result where job_id = ?',
  groupsNeedingItems: 'select job_id from job_group where needs_items = 1 order by job_id limit ?',

  // SQLite only: one statement for each table.
  setNeedsItems: 'update job_group set needs_items = ?2 where job_id = ?1',
  liveState: `select status, flags, due, cancel_requested_at from live where job_id = ?`,
  startGroup: `update live set status = 'running', started_at = ?2, expires_at = null,
      open_edges = ?3, held_edges = ?4, broken_edges = ?5, missed_edges = ?6
    where job_id = ?1`,
  /** ?1 the first id, ?2 the group, ?3 now, ?4 the start timeout, ?5 flags, ?6 the number of items. */
  insertItemsLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags)
    select j.id, g.lane, g.rank, iif(g.due > ?3, 'scheduled', 'pending'), max(g.due, ?3), max(g.due, ?3) + ?4, ?5
    from live g cross join job j where g.job_id = ?2 and j.id >= ?1 and j.id < ?1 + ?6`,
  itemsInserted: 'update job_group set inserted = inserted + ?2, open_items = open_items + ?2 where job_id = ?1',
  /** Writes the results of the items as a list, in their order; `null` for an item without a result. */
  joinResults: `insert or replace into result (job_id, value)
    select ?1, json_group_array(json(coalesce(x.value, 'null')) order by j.group_index)
    from job j left join result x on x.job_id = j.id where j.group_id = ?1`,
  dropResult: 'delete from result where job_id = ?',
} satisfies Twins<'groups'>;
