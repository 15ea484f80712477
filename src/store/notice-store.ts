/** What any backend must do about telling people. */

import type { Job, NewJob } from '../core/job.ts';
import type { NotifyEvent } from '../core/notify.ts';

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
  putOffNotice(noticeId: number, forMs: number, signal: AbortSignal): Promise<void>;

  /** What was sent about a job or a workflow, or which message a job carries; the oldest first. */
  notifications(about: NotificationFilter, signal: AbortSignal): Promise<Notification[]>;
}

/** Something that somebody may have to be told of. */
export interface Notice {
  id: number;
  kind: 'ended' | 'missed' | 'late';
  /** Not to be looked at before; it stays where the notice is put off. */
  dueAt: number;
  createdAt: number;
  jobId: number | null;
  workflowId: number | null;
  /** How it ended; `null` where it is not about an end. */
  status: 'done' | 'failed' | null;
  schedule: string | null;
  /** JSON that only its kind knows. */
  detail: Readonly<Record<string, unknown>>;
}

export interface Delivery {
  /** What fails and recovers as one, such as all jobs of one name; `null`: nothing does. */
  alarm: { subject: string; failing: boolean } | null;
  messages: readonly { event: NotifyEvent; job: NewJob }[];
}

export type NotificationFilter =
  | { jobId: number }
  | { workflowId: number }
  | { schedule: string }
  | { carriedBy: number };

/** A message on its way, or delivered: the job `carriedBy` tells which. */
export interface Notification {
  event: NotifyEvent;
  carriedBy: number;
  jobId: number | null;
  workflowId: number | null;
  schedule: string | null;
  createdAt: number;
}
