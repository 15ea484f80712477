/** Which messages a job has to do with. */

import type { Job } from '../../core/job.ts';
import type { Notification } from '../../core/notice.ts';
import { NOTIFY_QUEUE } from '../../core/notify.ts';
import type { SchedulerContext } from '../context.ts';

export interface Told {
  /** Sent about it. */
  notifications: Notification[];
  /** What it tells of, where it carries a message. */
  notifies: Notification | null;
}

export async function told({ store }: SchedulerContext, job: Job, signal: AbortSignal): Promise<Told> {
  const notifications = job.notify.length === 0 ? [] : await store.notifications({ jobId: job.id }, signal);
  if (job.queue !== NOTIFY_QUEUE) return { notifications, notifies: null };
  const [notifies = null] = await store.notifications({ carriedBy: job.id }, signal);
  return { notifications, notifies };
}
