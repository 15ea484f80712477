import type { JobSpec } from './job.ts';
import { NOTIFY_QUEUE, type Notify } from './notify.ts';

type Queued = Pick<JobSpec, 'queue' | 'notify'>;

/** The queues that a caller needs who is restricted to queues: those of the jobs, and that of commands that notify. */
export function neededQueues(jobs: Iterable<Queued>, notify: readonly Notify[] = []): Set<string> {
  const found = new Set<string>();
  const add = (list: readonly Notify[]): void => {
    if (list.some(({ target }) => target.type === 'command')) found.add(NOTIFY_QUEUE);
  };
  add(notify);
  for (const job of jobs) {
    found.add(job.queue);
    add(job.notify);
  }
  return found;
}
