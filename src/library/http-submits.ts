/** Single submits over HTTP: those that are asked for while one is on its way go together into the next request. */

import type { Client } from '../api/client.ts';
import type { SubmittedJob } from '../api/job.ts';
import type { JobSubmissionInput } from '../api/job-submission.ts';
import { isWorkronError } from '../core/error.ts';
import { Batcher } from '../ops/batcher.ts';

/** So many of the largest jobs still fit into one request. */
const MAX_BATCH = 60;
/** One is written or read here while the other is at the scheduler. */
const REQUESTS_AT_ONCE = 2;

export function httpSubmits(client: Client): Batcher<JobSubmissionInput, SubmittedJob> {
  return new Batcher({
    send: async (jobs) => {
      const [only, ...others] = jobs;
      return only !== undefined && others.length === 0 ? [await client.submit(only)] : await client.submitAll(jobs);
    },
    maxBatch: MAX_BATCH,
    maxWaiting: 20_000,
    concurrency: REQUESTS_AT_ONCE,
    // What is wrong with one job must not become its neighbours' failure; what is wrong with the caller is so for all.
    splits: (error) =>
      isWorkronError(error) && !error.retryable && error.httpStatus !== 401 && error.httpStatus !== 403,
  });
}

/** Jobs that can wait for others, by a key or a parent, go in requests of their own. */
export function mayShare({ unique, depends_on: parents }: JobSubmissionInput): boolean {
  return unique === undefined && parents === undefined;
}
