/** Fair turns: the order of pending jobs of several fair keys. */

import type { Twins } from '../../statements.ts';
import { isPending } from './standing.ts';

export function turnsSql(s: string) {
  return {
    addFairQueues: `insert into ${s}.fair_queue (name) select name from unnest($1::text[]) i(name)
      order by name collate "C" on conflict do nothing`,
    /** Puts the pending jobs among $1 whose queue is in $2 last until they are given their turns. */
    parkTurns: `update ${s}.live l set turn = 9007199254740991, fair_key = null from ${s}.job j
      where l.job_id = any($1::bigint[]) and ${isPending('l')} and j.id = l.job_id and j.queue = any($2::text[])
      returning l.job_id, j.queue, j.priority, coalesce(j.spec ->> 'fair_key', '') as fair_key, l.due`,
    presentTurns: `select i.place, min(c.turn) as turn
      from unnest($1::integer[], $2::integer[], $3::integer[]) i(place, lane, rank) cross join lateral (
          select l.turn from ${s}.live l where ${isPending('l')} and l.lane = i.lane and l.rank = i.rank
          order by l.turn, l.due, l.job_id limit 1) c
      group by i.place`,
    /** $1 places, $2 lanes, $3 ranks, $4 keys. */
    lastTurns: `select i.place, max(c.turn) as turn
      from unnest($1::integer[], $2::integer[], $3::integer[], $4::text[]) i(place, lane, rank, fair_key)
        cross join lateral (
          select l.turn from ${s}.live l
          where ${isPending('l')} and l.lane = i.lane and l.rank = i.rank and l.fair_key = i.fair_key
          order by l.turn desc limit 1) c
      group by i.place`,
    setTurns: `update ${s}.live l set turn = i.turn, fair_key = i.fair_key
      from unnest($1::bigint[], $2::bigint[], $3::text[]) i(job_id, turn, fair_key) where l.job_id = i.job_id`,

    // PostgreSQL only: without a lock, concurrent transactions would give the same turns in one queue.
    /** Locks pending jobs by id, see 'Lock order' in docs/architecture.md. */
    lockPending: `select job_id from ${s}.live where job_id = any($1::bigint[]) and ${isPending('live')} order by job_id for update`,
    /** Takes the last lock of a transaction. The current turns are read in the next statement. */
    lockFairQueues: `select q.name, array(select n.id from ${s}.any_lane n where n.queue = q.name) as lanes
      from ${s}.fair_queue q where q.name = any($1::text[]) order by q.name collate "C" for update of q`,
  } satisfies Twins<'turns'>;
}
