/** Notify targets of the whole installation, and the notifications that belong to a job. */

import type { Job, NewJob, Status } from '../../core/job.ts';
import type { Notification } from '../../core/notice.ts';
import { DEFAULT_LATE_AFTER_MS, NOTIFY_QUEUE, type Notify } from '../../core/notify.ts';
import type { SchedulerContext } from '../context.ts';

export interface NotifyContext {
  /** The targets that are notified about every job, workflow and schedule, in addition to their own targets. */
  readonly list: readonly Notify[];
  /** Signs webhook bodies; `null`: unsigned. */
  readonly secret: string | null;
  /** The base of links in notifications; `null`: links are paths. */
  readonly publicUrl: string | null;
}

export const NO_TARGETS: NotifyContext = { list: [], secret: null, publicUrl: null };

/** Adds the installation's targets to the list by reference. They are resolved when a notification is sent. */
export function withInstallationTargets(list: readonly Notify[], { list: own }: NotifyContext): readonly Notify[] {
  if (own.length === 0 || list.some(({ target }) => target.type === 'installation')) return list;
  const on = [...new Set(own.flatMap((entry) => entry.on))];
  const lateAfter = own.filter((entry) => entry.on.includes('late')).map(({ lateAfterMs }) => lateAfterMs);
  const lateAfterMs = lateAfter.length === 0 ? DEFAULT_LATE_AFTER_MS : Math.min(...lateAfter);
  return [...list, { on, target: { type: 'installation' }, lateAfterMs }];
}

/** Adds the installation's targets to a job. Jobs that deliver notifications get none, or they would never end. */
export function addInstallationTargets(job: NewJob, context: NotifyContext): NewJob {
  if (context.list.length === 0 || job.queue === NOTIFY_QUEUE) return job;
  return { ...job, notify: withInstallationTargets(job.notify, context) };
}

/** Replaces each reference to the installation's targets by those targets. */
export function resolveTargets(list: readonly Notify[], { list: own }: NotifyContext): readonly Notify[] {
  return list.flatMap((entry) => (entry.target.type === 'installation' ? own : [entry]));
}

export interface JobNotifications {
  /** The notifications that were sent about this job. */
  notifications: (Notification & { status: Status })[];
  /** The notification that this job delivers; `null` for any other job. */
  notifies: Notification | null;
}

export async function notificationsOf(
  { store }: SchedulerContext,
  job: Job,
  signal: AbortSignal,
): Promise<JobNotifications> {
  const sent = job.notify.length === 0 ? [] : await store.notifications({ jobId: job.id }, signal);
  const deliveries =
    sent.length === 0
      ? []
      : await store.read(
          sent.map(({ deliveredBy }) => deliveredBy),
          signal,
        );
  const statuses = new Map(deliveries.map(({ id, status }) => [id, status]));
  // Retention has deleted the others, which were delivered then or given up long ago.
  const notifications = sent.flatMap((each) => {
    const status = statuses.get(each.deliveredBy);
    return status === undefined ? [] : [{ ...each, status }];
  });
  if (job.queue !== NOTIFY_QUEUE) return { notifications, notifies: null };
  const [notifies = null] = await store.notifications({ deliveredBy: job.id }, signal);
  return { notifications, notifies };
}
