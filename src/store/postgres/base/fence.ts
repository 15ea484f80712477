import type { Fence } from '../../../core/fence.ts';

/** The state that a change expects, as the statements in sql/change.ts read it. */
export function fenceRow(fence: Fence) {
  return {
    job_id: fence.jobId,
    status: fence.status,
    attempt: fence.attempt,
    worker_id: fence.workerId,
    cancel_requested: fence.cancelRequested,
    gang_stop: fence.gangStop,
    ...fence.counters,
  };
}
