/** Reading jobs. */

import type { Attempt, Job } from '../core/job.ts';
import type { JobFilter } from '../core/job-filter.ts';

export interface ReadStore {
  /** The jobs that exist, in the order of the ids asked for; unknown ids are left out. */
  read(ids: readonly number[], signal: AbortSignal): Promise<Job[]>;

  /** Newest first (id descending), below `before` where given. */
  list(filter: JobFilter, page: { before: number | null; limit: number }, signal: AbortSignal): Promise<Job[]>;

  /** How many match, counting no further than `atMost`. */
  count(filter: JobFilter, atMost: number, signal: AbortSignal): Promise<number>;

  /** Ended attempts, oldest first. */
  attempts(jobId: number, signal: AbortSignal): Promise<Attempt[]>;

  /** How many claimable jobs come before this one in its queue, counting no further than `atMost`. */
  countAhead(jobId: number, atMost: number, signal: AbortSignal): Promise<number>;
}
