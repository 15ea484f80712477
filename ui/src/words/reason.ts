/** Why a job ended as it did, in a sentence. */

import type { Job } from '../../../src/api/job.ts';
import { exactDuration } from './duration.ts';

type Ended = Pick<Job, 'status' | 'reason' | 'exit_code' | 'signal' | 'timeout' | 'failures'>;

export function reasonText(job: Ended): string | null {
  const times = job.failures > 1 ? ` (${job.failures} attempts)` : '';
  switch (job.reason) {
    case 'exit':
      // A for_each step runs nothing itself: its items say how they ended.
      return job.exit_code === null ? 'It failed.' : `It exited with code ${job.exit_code}${times}.`;
    case 'signal':
      return `It was killed by ${job.signal ?? 'a signal'}${times}.`;
    case 'timeout':
      return `It exceeded its timeout of ${exactDuration(job.timeout)}${times}.`;
    case 'lost':
      return `Its worker was lost${times}.`;
    case 'interrupted':
      return 'It was interrupted, and may not be restarted automatically (rerun: never).';
    case 'fatal':
      return 'The handler marked this error as permanent.';
    case 'cancelled':
      return 'It was cancelled.';
    case 'upstream_failed':
      return 'A job that it depends on did not succeed.';
    case 'condition':
      return 'Its condition was not met.';
    case 'expired':
      return 'It did not start within its start_timeout.';
    case 'limit':
      return 'A limit was full, and the job does not wait for limits.';
    case 'gang':
      return 'Its gang has succeeded without it: it had no place.';
    case null:
      return null;
  }
}
