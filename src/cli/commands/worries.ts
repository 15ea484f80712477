/** What is wrong now, as the page says it. */

import { allPages } from '../../api/http-client.ts';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import { RECENT, type Watched, type Worry, waitsOfLate, worriesOf } from '../../api/words/worries.ts';
import type { Connection } from '../connection.ts';
import { span } from '../output/when.ts';

/** What the page says at its top. */
export async function worriesNow(
  connection: Connection,
  seen: Pick<Watched, 'queues' | 'workers'>,
  now = Date.now(),
): Promise<Worry[]> {
  const [schedules, recent, failures, waits] = await Promise.all([
    allPages((cursor) => connection.json(routes.listSchedules, { query: { cursor, limit: 200 } })),
    connection.json(routes.readStats, { query: { from: RECENT, step: RECENT } }),
    connection.json(routes.listFailures, { query: { from: RECENT } }),
    lateWaits(connection, seen.queues, now),
  ]);
  return worriesOf({ ...seen, schedules, recent, failures, waits, now, span });
}

/** What the oldest job of each late queue waits for. */
export function lateWaits(connection: Connection, queues: readonly Queue[], now = Date.now()) {
  const query = { status: 'pending', limit: 200 } as const;
  return waitsOfLate(
    { queues, now },
    {
      pending: async () => (await connection.json(routes.listJobs, { query })).items,
      read: (id) => connection.json(routes.readJob, { params: { id } }),
    },
  );
}
