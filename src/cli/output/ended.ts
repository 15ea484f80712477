import type { Job } from '../../api/job.ts';
import { isTerminal } from '../../core/job.ts';

/** Nothing more will happen to it, unless a person retries it. */
export function isEnded(job: Pick<Job, 'status'>): boolean {
  return isTerminal(job.status);
}
