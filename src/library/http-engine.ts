/** Calls to a server over HTTP. */

import type { Client, SubmitOptions } from '../api/client.ts';
import type { SubmittedJob } from '../api/job.ts';
import type { JobSubmissionInput } from '../api/job-submission.ts';
import type { Schedule } from '../api/schedule.ts';
import { WorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import type { Engine } from './engine.ts';
import { httpSubmits, mayShare } from './http-submits.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

export function httpEngine(client: Client): Engine {
  const singles = httpSubmits(client);
  /** A submission that can be aborted gets a request of its own. */
  function submitOne(job: JobSubmissionInput, options: SubmitOptions): Promise<SubmittedJob> {
    const sharing = Object.keys(options).length === 0 && mayShare(job);
    return sharing ? singles.add(job, NEVER) : client.submit(job, options);
  }
  return {
    async submit(requests, { idempotency }, signal) {
      const jobs = requests.map(
        ({ template, input }): JobSubmissionInput => (input === undefined ? template : { ...template, input }),
      );
      const options = {
        ...(signal === undefined ? {} : { signal }),
        ...(idempotency === undefined ? {} : { idempotencyKey: idempotency.key }),
      };
      const [first, ...others] = jobs;
      if (first === undefined) return [];
      const submitted = others.length === 0 ? [await submitOne(first, options)] : await client.submitAll(jobs, options);
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
  return new WorkronError('bad_request', 'tx: a transaction cannot be shared over HTTP; open the database itself');
}

const MAX_PAGE_SIZE = 200;

function httpSchedules(client: Client): ScheduleCalls {
  return {
    put: (name, declaration, signal) => client.putSchedule(name, declaration, { signal }),
    read: (name, signal) => client.schedule(name, { signal }),
    async list(signal) {
      const found: Schedule[] = [];
      let cursor: string | null = null;
      do {
        const query = { limit: MAX_PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
        const page = await client.schedules(query, { signal });
        found.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return found;
    },
    async next(name, count, signal) {
      const { items } = await client.nextTicks(name, { count, signal });
      return items.map(({ utc }) => new Date(utc));
    },
    pause: (name, note, signal) => client.pauseSchedule(name, { ...(note === undefined ? {} : { note }), signal }),
    resume: (name, signal) => client.resumeSchedule(name, { signal }),
    async remove(name, signal) {
      await client.deleteSchedule(name, { signal });
    },
    run: (name, keys, signal) => client.runSchedule(name, { ...(keys === undefined ? {} : { keys }), signal }),
    backfill: (name, request, signal) => client.backfillSchedule(name, request, { signal }),
    ticks: async (name, limit, signal) => (await client.ticks(name, { limit }, { signal })).items,
  };
}
