import type { Change, Fence } from '../../../core/transition.ts';

export interface PlacedChange {
  change: Change;
  /** In the call. */
  place: number;
}

/** What must still be so, as the statements in sql/change.ts read it. */
export function fenceRow(fence: Fence) {
  return {
    job_id: fence.jobId,
    status: fence.status,
    attempt: fence.attempt,
    worker_id: fence.workerId,
    cancel_requested: fence.cancelRequested,
    ...fence.counters,
  };
}
