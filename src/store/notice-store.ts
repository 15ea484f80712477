/** What any backend must do about telling people. */

import type { Job } from '../core/job.ts';
import type { Delivery, Notice, Notification, NotificationFilter } from '../core/notice.ts';

export interface NoticeStore {
  /**
   * Up to `limit` notices that are due, those that have waited longest first. The end of a job or workflow that its `notify` asks for leaves one,
   * in the transaction of the end.
   */
  notices(limit: number, signal: AbortSignal): Promise<Notice[]>;

  /**
   * Turns a notice into the jobs that carry its messages, in one step: it is gone and they are there, or neither. Also moves
   * the subject's alarm; messages of a recovery are stored only where that had been raised. Answers with the jobs, or
   * `undefined` where the notice is gone already.
   */
  deliver(noticeId: number, delivery: Delivery, signal: AbortSignal): Promise<Job[] | undefined>;

  /** A notice that cannot be told now is not looked at for so long. One that is gone stays so. */
  postponeNotice(noticeId: number, forMs: number, signal: AbortSignal): Promise<void>;

  /** What was sent about a job or a workflow, or which message a job carries; the oldest first. */
  notifications(about: NotificationFilter, signal: AbortSignal): Promise<Notification[]>;
}
