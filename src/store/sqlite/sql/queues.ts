/** Queues and their settings. */

import type { Twins } from '../../statements.ts';

export const queuesSql = {
  /** A group runs without a worker and is not counted as running. */
  queueCounts: `select n.queue as name, l.status, sum(l.status <> 'running' or l.worker_id is not null) as count,
      min(l.due) as due
    from live l join any_lane n on n.id = l.lane where ?1 is null or n.queue = ?1 group by n.queue, l.status`,
  queueRows: 'select name, paused_at, max_running, rate from queue where ?1 is null or name = ?1',
  setQueue: 'insert or replace into queue (name, paused_at, max_running, rate) values (?, ?, ?, ?)',
  deleteQueue: `delete from queue where name = ?1
    and not exists (select 1 from live l join any_lane n on n.id = l.lane where n.queue = ?1)`,
} satisfies Twins<'queues'>;
