/** Notices (events to notify of) and notifications. */

import type { Job } from '../core/job.ts';
import type { Delivery, Notice, Notification, NotificationFilter } from '../core/notice.ts';

export interface NoticeStore {
  /**
   * Returns up to `limit` notices that are due, the longest waiting first. The end of a job or workflow writes a notice in
   * the same transaction if its `notify` asks for one.
   */
  notices(limit: number, signal: AbortSignal): Promise<Notice[]>;

  /**
   * Replaces a notice by the jobs that deliver its messages, in one step. Also raises or clears the subject's alarm;
   * messages of a recovery are stored only if the alarm had been raised. Returns the jobs, or `undefined` if the notice has
   * already been delivered.
   */
  deliver(noticeId: number, delivery: Delivery, signal: AbortSignal): Promise<Job[] | undefined>;

  /** Postpones a notice that cannot be delivered now. Does nothing if it has been delivered. */
  postponeNotice(noticeId: number, forMs: number, signal: AbortSignal): Promise<void>;

  /** Returns the notifications about a job, workflow or schedule, or the one that a job delivers; the oldest first. */
  notifications(about: NotificationFilter, signal: AbortSignal): Promise<Notification[]>;
}
