/** Workers. */

import type { Twins } from '../../statements.ts';
import { heldIn } from './heartbeat.ts';
import { nowIn } from './instants.ts';

export function workersSql(s: string) {
  const now = nowIn(s);

  return {
    insertWorker: `with ${now}
      insert into ${s}.worker (id, name, state, attachment, instance_id, lease_ms, registered_at, seen_at, profile)
      select $1, $2, 'online', $3, $4, $5, t.now, t.now, $6 from t`,
    workers: `select w.id, w.name, w.state, w.attachment, w.instance_id, w.lease_ms, w.registered_at, w.seen_at, w.profile,
        (select count(distinct l.job_id) from ${heldIn(s)} and c.worker_id = w.id) as running
      from ${s}.worker w where $1::integer is null or w.id = $1 order by w.id`,
    countWorkers: `select count(*) as count from ${s}.worker`,
    crowdOutWorkers: `delete from ${s}.worker where id = any(array(
      select w.id from ${s}.worker w where w.state = 'offline' and not exists (select 1 from ${heldIn(s)} and c.worker_id = w.id)
      order by w.seen_at, w.id limit $1::bigint))`,
    /** Stored beside the state, for a worker that goes offline and comes back. */
    drainWorker: `update ${s}.worker set profile = profile || '{"draining": true}',
        state = case when state = 'online' then 'draining' else state end
      where id = $1`,
    undrainWorker: `update ${s}.worker set profile = profile - 'draining',
        state = case when state = 'draining' then 'online' else state end
      where id = $1`,
    leaveWorker: `update ${s}.worker set state = 'offline' where id = $1`,
    /** $1 workers. With the keys of the lanes: other processes may have created them. */
    heldLanes: `select h.worker_id, n.key, count(*) as count
      from (select distinct l.job_id, l.worker_id, l.lane from ${heldIn(s)} and c.worker_id = any($1::integer[])) h
        join ${s}.lane n on n.id = h.lane
      group by h.worker_id, n.key`,

    // PostgreSQL only: a worker's session lock has its id as key and is taken before its row is visible.
    nextWorkerId: `select nextval('${s}.worker_id')::integer as id`,
  } satisfies Twins<'workers'>;
}
