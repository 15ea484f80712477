/** Why a job ended as it did, in a sentence. */

import type { Job } from '../../../src/api/job.ts';
import { durationText } from './duration.ts';

export function reasonText(
  job: Pick<Job, 'status' | 'reason' | 'exit_code' | 'signal' | 'timeout' | 'failures'>,
): string | null {
  const times = job.failures > 1 ? `, ${job.failures} times` : '';
  switch (job.reason) {
    case 'exit':
      return `It exited with code ${job.exit_code ?? '?'}${times}.`;
    case 'signal':
      return `It was ended by ${job.signal ?? 'a signal'}${times}.`;
    case 'timeout':
      return `It took longer than its timeout of ${durationText(job.timeout)}${times}.`;
    case 'lost':
      return `Its worker vanished${times}.`;
    case 'interrupted':
      return 'It was interrupted, and must not be started again by itself.';
    case 'fatal':
      return 'Its handler said that trying again is of no use.';
    case 'cancelled':
      return 'Somebody cancelled it.';
    case 'upstream_failed':
      return 'Something that it depends on did not succeed.';
    case 'condition':
      return 'What it was to run for did not happen.';
    case 'expired':
      return 'It was not started within its start_timeout.';
    case null:
      return null;
  }
}
