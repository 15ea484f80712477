/** Notices of ends, missed and late runs, and the messages that come of them. */

import type { NewJob } from './job.ts';
import type { NotifyEvent } from './notify.ts';

/** Something that somebody may have to be told of. */
export interface Notice {
  id: number;
  kind: 'ended' | 'missed' | 'late';
  /** Not to be looked at before; it stays where the notice is postponed. */
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
