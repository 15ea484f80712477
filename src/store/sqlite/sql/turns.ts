/** Fair turns: the order of pending jobs of several fair keys. */

import type { Twins } from '../../statements.ts';

export const turnsSql = {
  addFairQueues: 'insert or ignore into fair_queue (name) values (?)',
  /** Puts the pending jobs among ?1 whose queue is in ?2 last until they are given their turns. */
  parkTurns: `update live set turn = 9007199254740991, fair_key = null
    where job_id in (select value from json_each(?1)) and status = 'pending'
      and lane in (select n.id from lane n join json_each(?2) q on q.value = n.queue)`,
  presentTurns: `select turn from live where status = 'pending' and lane = ?1 and rank = ?2
    order by turn, due, job_id limit 1`,
  lastTurns: `select turn from live where status = 'pending' and lane = ?1 and rank = ?2 and fair_key = ?3
    order by turn desc limit 1`,
  setTurns: 'update live set turn = ?2, fair_key = ?3 where job_id = ?1',

  // SQLite only: read one after the other, under the lock of the whole file.
  fairQueues: 'select name from fair_queue',
  lanesOfQueue: 'select id from any_lane where queue = ?',
  newcomers: `select l.job_id, j.queue, j.priority, coalesce(j.spec ->> 'fair_key', '') as fair_key, l.due
    from json_each(?1) i join live l on l.job_id = i.value join job j on j.id = l.job_id
    where l.status = 'pending' and l.turn = 9007199254740991`,
} satisfies Twins<'turns'>;
