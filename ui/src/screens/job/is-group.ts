import type { JobDetail } from '../../../../src/api/job.ts';

/** Whether it is a `for_each` step that has begun: its items have the attempts and the output. */
export function isGroup({ step, index, attempts, status, reason, exit_code, rerun_of }: JobDetail): boolean {
  if (step === null || index !== null || attempts > 0) return false;
  // A rerun keeps a step that is done, without its attempts.
  if (status === 'done') return rerun_of === null;
  return status === 'running' || (status === 'failed' && reason === 'exit' && exit_code === null);
}
