/** Groups and their items. */

export const groupsSql = {
  /** ?1 the first id, ?2 the group, ?3 now, ?4 specs as text. */
  insertItems: `insert into job (id, queue, kind, name, priority, tags, created_at, spec, workflow_id, step_key, group_id,
      group_index)
    select ?1 + i.key, g.queue, g.kind, g.name, g.priority, ?5, ?3, i.value, g.workflow_id, g.step_key, g.id,
      f.inserted + i.key
    from json_each(?4) i cross join job g cross join job_group f where g.id = ?2 and f.job_id = ?2`,

  // SQLite only: one statement for each table.
  /** A literal list is stored once, as the source. */
  groupItems: `select coalesce(f.items, f.source) as items, l.due from job_group f join live l on l.job_id = f.job_id
    where f.job_id = ?`,
  liveState: `select status, flags, due, cancel_requested_at from live where job_id = ?`,
  /** ?1 the first id, ?2 the group, ?3 now, ?4 the start timeout, ?5 flags, ?6 the number of items. */
  insertItemsLive: `insert into live (job_id, lane, rank, status, due, expires_at, flags)
    select j.id, g.lane, g.rank, iif(g.due > ?3, 'scheduled', 'pending'), max(g.due, ?3), max(g.due, ?3) + ?4, ?5
    from live g cross join job j where g.job_id = ?2 and j.id >= ?1 and j.id < ?1 + ?6`,
  itemsInserted: `update job_group set inserted = inserted + ?2, open_items = open_items + ?2, needs_items = ?3
    where job_id = ?1`,
};
