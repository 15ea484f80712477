/** What the pending jobs of a list wait for, such as a worker that is not there. */

import type { ListedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import type { Waiting } from '../../api/waiting.ts';
import type { Connection } from '../connection.ts';

/** At most this number of kinds of pending jobs is asked about. */
const MAX_ASKED = 5;

/** What jobs wait for, by id. One job is asked for each kind. Places in the queue are left to `workron why`. */
export async function waitsOf(connection: Connection, jobs: readonly ListedJob[]): Promise<Map<string, Waiting>> {
  const kinds = Map.groupBy(
    jobs.filter(({ status }) => status === 'pending'),
    ({ queue, handler, requires, resources, limits, rates, gang }) =>
      JSON.stringify([queue, handler, requires, resources, limits, rates, gang?.id]),
  );
  const waits = new Map<string, Waiting>();
  const ask = async (alike: readonly ListedJob[]): Promise<void> => {
    const { id } = alike[0] as ListedJob;
    // The job may be gone by now, which is no reason to show no list.
    const job = await connection.json(routes.readJob, { params: { id } }).catch(() => null);
    if (job?.waiting != null) for (const each of alike) waits.set(each.id, job.waiting);
  };
  await Promise.all([...kinds.values()].slice(0, MAX_ASKED).map(ask));
  return waits;
}
