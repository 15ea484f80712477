/** Says in a list which pending jobs cannot start now, such as one that needs a worker which is not there. */

import type { ListedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import type { Connection } from '../connection.ts';

/** At most this number of kinds of pending jobs is asked about. */
const MAX_ASKED = 5;
/** What holds for all pending jobs of a kind. Places in the queue are left to `workron why`. */
const FOR_ALL = /^(a worker|queue .* to be resumed)/;

/** What jobs wait for, by id. One job is asked for each kind: the same queue, handler, tags and resources. */
export async function waitingNotes(connection: Connection, jobs: readonly ListedJob[]): Promise<Map<string, string>> {
  const kinds = Map.groupBy(
    jobs.filter(({ status }) => status === 'pending'),
    ({ queue, handler, requires, resources }) => JSON.stringify([queue, handler, requires, resources]),
  );
  const notes = new Map<string, string>();
  const ask = async (alike: readonly ListedJob[]): Promise<void> => {
    const { id } = alike[0] as ListedJob;
    // The job may be gone by now, which is no reason to show no list.
    const job = await connection.json(routes.readJob, { params: { id } }).catch(() => null);
    const sentence = job?.waiting_for ?? '';
    if (FOR_ALL.test(sentence)) for (const each of alike) notes.set(each.id, `waits for ${sentence}`);
  };
  await Promise.all([...kinds.values()].slice(0, MAX_ASKED).map(ask));
  return notes;
}
