/** Reading jobs. */

import type { Attempt } from '../core/attempt-end.ts';
import type { Job } from '../core/job.ts';
import type { JobFilter, ListedJob } from '../core/job-filter.ts';
import type { Outlook } from '../core/outlook.ts';

export interface ReadStore {
  /** Returns the jobs with these ids, in that order; unknown ids are left out. */
  read(ids: readonly number[], signal: AbortSignal): Promise<Job[]>;

  /**
   * Returns jobs newest first (id descending), below `before` if given. Long fields are cut before they are read, so that the
   * memory that a list needs depends on its length alone.
   */
  list(filter: JobFilter, page: { before: number | null; limit: number }, signal: AbortSignal): Promise<ListedJob[]>;

  /** The number of jobs that match, counted up to `atMost`. */
  count(filter: JobFilter, atMost: number, signal: AbortSignal): Promise<number>;

  /** Returns ended attempts, oldest first. */
  attempts(jobId: number, signal: AbortSignal): Promise<Attempt[]>;

  /**
   * The number of jobs of its queue that claims start before a pending job, counted up to `atMost`: those that come first, that one of
   * its workers could run, and that no limit or rate of theirs holds back.
   */
  countAhead(jobId: number, atMost: number, signal: AbortSignal): Promise<number>;

  /**
   * What the next claim of each worker would do with a claimable job, without making it: one entry per worker that is online, not
   * silent, and could run the job if it were idle. Empty for any other job.
   */
  outlook(jobId: number, signal: AbortSignal): Promise<Outlook[]>;
}
