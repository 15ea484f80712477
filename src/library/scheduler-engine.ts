/** Calls to a scheduler in this process. */

import { decode } from '../api/decode.ts';
import { label } from '../api/fields.ts';
import { type GangSubmission, membersOf, requireRoom } from '../api/gang.ts';
import { JobSubmission } from '../api/job-submission.ts';
import { attemptToWire, jobDetailToWire, jobToWire, newJobFrom } from '../api/job-wire.ts';
import { WorkronError } from '../core/error.ts';
import type { NewJob } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import type { SchedulerContext } from '../scheduler/context.ts';
import { newGangId } from '../scheduler/jobs/new-gang-id.ts';
import { addInstallationTargets } from '../scheduler/notify/targets.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { sealJobs } from '../scheduler/secrets/sealing.ts';
import type { Transactional } from '../store/transactional.ts';
import type { Engine, Request } from './engine.ts';
import type { JobTemplate } from './options.ts';
import { schedulerSchedules } from './scheduler-schedules.ts';
import { issuesBy } from './schema.ts';

/** `transactional` is the store's support for transactions of the application; `null` if it has none. */
export function schedulerEngine(
  scheduler: Scheduler,
  transactional: Transactional | null,
  context: Pick<SchedulerContext, 'notify' | 'sealing' | 'inputChecks'> & { actor: string | null },
): Engine {
  const { notify, sealing, inputChecks, actor: own } = context;
  const inTransaction = (): Transactional => {
    if (transactional !== null) return transactional;
    throw new WorkronError(
      'bad_request',
      `tx: a ${scheduler.driver} store does not support transactions of the application`,
    );
  };
  const newJobs = jobMaker();
  return {
    async submit(requests, { actor = own, idempotency }, signal = NEVER) {
      const made = requests.map(newJobs);
      for (const { jobs, failFast } of made) {
        if (failFast) requireRoom(jobs, await scheduler.workers(signal), '');
      }
      const all = made.flatMap(({ jobs }) => jobs);
      const options = idempotency === undefined ? {} : { idempotency };
      const { items } = await scheduler.submit(by(actor, all), options, signal);
      return items.map(({ job, deduplicated }) => ({ id: String(job.id), deduplicated }));
    },
    async enlist(requests, run, { actor = own, signal }) {
      const all = requests.flatMap((request) => newJobs(request).jobs);
      const jobs = by(actor, all).map((job) => addInstallationTargets(job, notify));
      // At once: a transaction of SQLite may end in the same turn.
      const enlisted = await inTransaction().enlist(run, sealJobs(jobs, sealing.sealNow()), signal);
      return enlisted.map(({ id, deduplicated }) => ({ id: String(id), deduplicated }));
    },
    async complete(success, run) {
      await inTransaction().complete(run, success);
    },
    checkStepsOf(jobs) {
      for (const { name, input: schema } of jobs) if (schema !== null) inputChecks.set(name, issuesBy(schema));
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
function jobMaker(): (request: Request) => { jobs: NewJob[]; failFast: boolean } {
  const known = new WeakMap<JobTemplate, { job: NewJob; gang: GangSubmission | undefined }>();
  return ({ template, input = null }) => {
    let checked = known.get(template);
    if (checked === undefined) {
      const submission = decode(JobSubmission, template);
      checked = { job: newJobFrom(submission), gang: submission.gang };
      known.set(template, checked);
    }
    const { gang } = checked;
    const job = { ...checked.job, input };
    const failFast = gang?.fail_fast ?? false;
    return { jobs: gang === undefined ? [job] : membersOf(job, gang, newGangId()), failFast };
  };
}

function storeId(id: string): number {
  if (/^[1-9]\d{0,15}$/.test(id)) return Number(id);
  throw new WorkronError('job_not_found', `No job ${id}`);
}
