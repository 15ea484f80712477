/** Finds jobs that have waited for long for a worker that is not there. */

import { countText } from '../../api/count-text.ts';
import type { ListedJob } from '../../api/job.ts';
import type { Queue } from '../../api/queue.ts';
import { routes } from '../../api/routes.ts';
import type { Connection } from '../connection.ts';
import { span } from '../output/when.ts';
import { waitingNotes } from './waiting-notes.ts';

/** A worker may be about to start. */
const LATE_MS = 60_000;
const MAX_LISTED = 200;
const PREFIX = 'waits for ';

/** One sentence for each thing that is missing: `2 jobs wait for a worker with tag gpu: none is online (oldest 12m)`. */
export async function stuckJobs(connection: Connection, queues: readonly Queue[], now = Date.now()): Promise<string[]> {
  const isLate = (instant: string | null): boolean => instant !== null && now - Date.parse(instant) > LATE_MS;
  const late = queues.filter(({ paused, oldest_pending_at: oldest }) => !paused && isLate(oldest));
  if (late.length === 0) return [];
  const query = { status: 'pending', limit: MAX_LISTED } as const;
  const { items } = await connection.json(routes.listJobs, { query });
  const waiting = items.filter((job) => isLate(dueAt(job)) && late.some(({ name }) => name === job.queue)).toReversed();
  const notes = await waitingNotes(connection, waiting);
  const alike = Map.groupBy(waiting, ({ id }) => notes.get(id));
  return [...alike].flatMap(([note, jobs]) => {
    if (note?.startsWith(`${PREFIX}a worker`) !== true) return [];
    const count = countText(jobs.length, 'job waits', 'jobs wait');
    const oldest = Math.min(...jobs.map((job) => Date.parse(dueAt(job))));
    return [`${count} for ${note.slice(PREFIX.length)} (oldest ${span(now - oldest)})`];
  });
}

/** When it could have started at the earliest. */
function dueAt({ created_at, run_at }: Pick<ListedJob, 'created_at' | 'run_at'>): string {
  return created_at > run_at ? created_at : run_at;
}
