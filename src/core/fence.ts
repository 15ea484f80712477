/** What a decision about a job was made from. */

import type { Counters, Job, Status } from './job.ts';

/** Every field that the decision used. If one has changed since, the change is not written. */
export interface Fence {
  jobId: number;
  status: Status;
  attempt: number;
  workerId: number | null;
  cancelRequested: boolean;
  gangStop: boolean;
  counters: Counters;
  /** The worker was last seen at this instant, and not since. */
  workerSeenAt?: number;
}

export function fenceOf(job: Job): Fence {
  return {
    jobId: job.id,
    status: job.status,
    attempt: job.attempt,
    workerId: job.status === 'running' ? job.workerId : null,
    cancelRequested: job.cancelRequestedAt !== null,
    gangStop: job.gangStop,
    counters: countersOf(job),
  };
}

export function countersOf(job: Job): Counters {
  return { failures: job.failures, interruptions: job.interruptions, snoozes: job.snoozes, losses: job.losses };
}
