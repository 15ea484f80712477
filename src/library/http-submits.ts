/** Single submissions over HTTP, batched naturally: those that arrive while a request is in flight share the next one. */

import type { Client } from '../api/client.ts';
import type { SubmittedJob } from '../api/job.ts';
import type { JobSubmissionInput } from '../api/job-submission.ts';
import { isWorkronError } from '../core/error.ts';
import { Batcher } from '../ops/batcher.ts';

/** The number of jobs of the largest size that fit into one request. */
const MAX_BATCH = 60;
/** The client encodes or decodes one request while the server handles the other. */
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
    // A refused job must not fail its neighbours, so they are sent again one by one. A refused caller is refused for all.
    splits: (error) =>
      isWorkronError(error) && !error.retryable && error.httpStatus !== 401 && error.httpStatus !== 403,
  });
}

/** Jobs that may have to wait for another job, by a unique key or a parent, get requests of their own. */
export function mayShare({ unique, depends_on: parents }: JobSubmissionInput): boolean {
  return unique === undefined && parents === undefined;
}
