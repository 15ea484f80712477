/** Calls to a scheduler in this process. */

import { decode } from '../api/decode.ts';
import { label } from '../api/fields.ts';
import { JobSubmission } from '../api/job-submission.ts';
import { attemptToWire, jobDetailToWire, jobToWire, newJobFrom } from '../api/job-wire.ts';
import { WorkronError } from '../core/error.ts';
import type { NewJob } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import { addInstallationTargets, type NotifyContext } from '../scheduler/notify/targets.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Transactional } from '../store/transactional.ts';
import type { Engine, Request } from './engine.ts';
import type { JobTemplate } from './options.ts';
import { schedulerSchedules } from './scheduler-schedules.ts';

/** `transactional` is the store's support for transactions of the application; `null` if it has none. */
export function schedulerEngine(
  scheduler: Scheduler,
  transactional: Transactional | null,
  { notify, actor: own }: { notify: NotifyContext; actor: string | null },
): Engine {
  const inTransaction = (): Transactional => {
    if (transactional !== null) return transactional;
    throw new WorkronError(
      'bad_request',
      `tx: a ${scheduler.driver} store does not support transactions of the application`,
    );
  };
  const newJob = jobMaker();
  return {
    async submit(requests, { actor = own, ...options }, signal = NEVER) {
      const { items } = await scheduler.submit(by(actor, requests.map(newJob)), options, signal);
      return items.map(({ job, deduplicated }) => ({ id: String(job.id), deduplicated }));
    },
    async enlist(requests, run, { actor = own, signal }) {
      const jobs = by(actor, requests.map(newJob)).map((job) => addInstallationTargets(job, notify));
      const enlisted = await inTransaction().enlist(run, jobs, signal);
      return enlisted.map(({ id, deduplicated }) => ({ id: String(id), deduplicated }));
    },
    async complete(success, run) {
      await inTransaction().complete(run, success);
    },
    wait: async (id, timeoutMs, signal) => jobToWire(await scheduler.wait(storeId(id), timeoutMs, signal)),
    job: async (id, signal) => jobDetailToWire(await scheduler.job(storeId(id), signal)),
    attempts: async (id, signal) => (await scheduler.attempts(storeId(id), signal)).map(attemptToWire),
    cancel: async (id, signal) => jobToWire(await scheduler.cancel(storeId(id), { keepChildren: false }, signal)),
    retry: async (id, signal) => jobToWire(await scheduler.retry(storeId(id), signal)),
    schedules: schedulerSchedules(scheduler),
  };
}

/** Names who submits the jobs, which were made for this call. */
function by(actor: string | null, jobs: NewJob[]): NewJob[] {
  if (actor === null) return jobs;
  decode(label(128), actor, '/actor');
  for (const job of jobs) job.submittedBy = actor;
  return jobs;
}

/** Checks each template once: most submissions share theirs. */
function jobMaker(): (request: Request) => NewJob {
  const known = new WeakMap<JobTemplate, NewJob>();
  return ({ template, input = null }) => {
    let job = known.get(template);
    if (job === undefined) {
      job = newJobFrom(decode(JobSubmission, template));
      known.set(template, job);
    }
    return { ...job, input };
  };
}

function storeId(id: string): number {
  if (/^[1-9]\d{0,15}$/.test(id)) return Number(id);
  throw new WorkronError('job_not_found', `No job ${id}`);
}
