/** Workers. */

import type { Twins } from '../../statements.ts';

export const workersSql = {
  insertWorker: `insert into worker (name, state, attachment, instance_id, lease_ms, registered_at, seen_at, profile)
    values (?1, 'online', ?2, ?3, ?4, ?5, ?5, ?6)`,
  workers: `select w.id, w.name, w.state, w.attachment, w.instance_id, w.lease_ms, w.registered_at, w.seen_at, w.profile,
      (select count(*) from live l where l.status = 'running' and l.worker_id = w.id) as running
    from worker w where ?1 is null or w.id = ?1 order by w.id`,
  countWorkers: 'select count(*) as count from worker',
  crowdOutWorkers: `delete from worker where id in (
    select w.id from worker w where w.state = 'offline'
      and not exists (select 1 from live l where l.status = 'running' and l.worker_id = w.id)
    order by w.seen_at, w.id limit ?1)`,
  /** Stored in the profile too: an offline worker that comes back still has to drain. */
  drainWorker: `update worker set state = iif(state = 'offline', state, 'draining'),
      profile = json_set(profile, '$.draining', json('true'))
    where id = ?`,
  undrainWorker: `update worker set state = iif(state = 'draining', 'online', state), profile = json_remove(profile, '$.draining')
    where id = ?`,
  leaveWorker: `update worker set state = 'offline' where id = ?`,
  heldLanes: `select worker_id, lane, count(*) as count from live
    where status = 'running' and worker_id is not null group by worker_id, lane`,
} satisfies Twins<'workers'>;
