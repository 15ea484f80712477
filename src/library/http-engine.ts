/** The library's calls to a scheduler behind HTTP. */

import type { Client } from '../api/client.ts';
import type { JobSubmissionInput } from '../api/job-submission.ts';
import { WorkronError } from '../core/error.ts';
import type { Engine } from './engine.ts';
import { httpSchedules } from './http-schedules.ts';

export function httpEngine(client: Client): Engine {
  return {
    async submit(requests, { idempotency }, signal) {
      const jobs = requests.map(
        ({ form, input }): JobSubmissionInput => (input === undefined ? form : { ...form, input }),
      );
      const options = { signal, ...(idempotency === undefined ? {} : { idempotencyKey: idempotency.key }) };
      const [first, ...others] = jobs;
      if (first === undefined) return [];
      const submitted =
        others.length === 0 ? [await client.submit(first, options)] : await client.submitAll(jobs, options);
      return submitted.map(({ id, deduplicated }) => ({ id, deduplicated }));
    },
    enlist: () => Promise.reject(notHere()),
    complete: () => Promise.reject(notHere()),
    wait: (id, timeoutMs, signal) => client.wait(id, { timeout: Math.min(timeoutMs, 30_000), signal }),
    job: (id, signal) => client.job(id, { signal }),
    attempts: (id, signal) => client.attempts(id, { signal }),
    cancel: (id, signal) => client.cancel(id, { signal }),
    retry: (id, signal) => client.retry(id, { signal }),
    schedules: httpSchedules(client),
  };
}

function notHere(): WorkronError {
  return new WorkronError('bad_request', 'Over HTTP there is no transaction to share: open the database itself');
}
