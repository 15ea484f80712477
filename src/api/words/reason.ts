/** Why a job ended as it did, in words. */

import type { Job } from '../job.ts';

const WORDS: Readonly<Record<NonNullable<Job['reason']>, string>> = {
  exit: 'it failed',
  signal: 'it was killed by a signal',
  timeout: 'it exceeded its timeout',
  lost: 'its worker was lost',
  interrupted: 'it was interrupted, and is not started again by itself (rerun: never)',
  fatal: 'its handler marked the error as permanent',
  cancelled: 'it was cancelled',
  upstream_failed: 'an upstream job failed',
  condition: 'its condition was not met',
  expired: 'it did not start within its start_timeout',
  limit: 'its limit was full',
  gang: 'its gang succeeded without it',
  step: 'a step of its function failed',
};

export function reasonText(reason: NonNullable<Job['reason']>): string {
  return WORDS[reason];
}
