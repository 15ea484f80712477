/** Notices of ends and of missed and late runs, and the notifications that are sent for them. */

import type { NewJob } from './job.ts';
import type { NotifyEvent } from './notify.ts';

/** An event that may have to be notified. */
export interface Notice {
  id: number;
  kind: 'ended' | 'missed' | 'late';
  /** The earliest instant to handle it. Postponing the notice does not change it. */
  dueAt: number;
  createdAt: number;
  jobId: number | null;
  workflowId: number | null;
  /** How the job or workflow ended; `null` if the notice is not about an end. */
  status: 'done' | 'failed' | 'cancelled' | null;
  schedule: string | null;
  /** JSON whose shape depends on `kind`. */
  detail: Readonly<Record<string, unknown>>;
}

export interface Delivery {
  /** The subject that fails and recovers as one, such as all jobs of one name; `null`: none. */
  alarm: { subject: string; failing: boolean } | null;
  messages: readonly { event: NotifyEvent; job: NewJob }[];
}

export type NotificationFilter =
  | { jobId: number }
  | { workflowId: number }
  | { schedule: string }
  | { deliveredBy: number };

/** A notification and the id of the job that delivers it, `deliveredBy`. It was delivered if that job is done. */
export interface Notification {
  event: NotifyEvent;
  deliveredBy: number;
  jobId: number | null;
  workflowId: number | null;
  schedule: string | null;
  createdAt: number;
}
