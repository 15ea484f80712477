/** New jobs of callers: what each may submit, in whose name, and what the installation adds. The only way in for submissions. */

import { requireRoom } from '../../api/gang.ts';
import { WorkronError } from '../../core/error.ts';
import type { JobSpec, NewJob } from '../../core/job.ts';
import { neededQueues } from '../../core/needed-queues.ts';
import type { Notify } from '../../core/notify.ts';
import type { Inserted, InsertOptions } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import { addInstallationTargets } from '../notify/targets.ts';
import { sealJobs } from '../secrets/sealing.ts';
import type { Submitter } from './submit.ts';

export interface Caller {
  /** Who it is, for people. */
  name: string;
  /** Its name on what it submits; `null`: nobody is named. */
  submitter: string | null;
  /** The queues to submit to or to claim from; `null`: all. */
  queues: readonly string[] | null;
}

/** A job, or the members of a gang. They are made for this call. */
export interface Submission {
  jobs: NewJob[];
  /** Refused if the workers that are online could not hold the gang even when idle. */
  failFast: boolean;
  /** Where it is in the request. */
  pointer: string;
}

export interface Admission {
  /** Inserts all jobs or none, in order. Resolves once they are on disk. */
  submit(submissions: readonly Submission[], options: InsertOptions, signal: AbortSignal): Promise<Inserted>;
  /** The jobs as they are inserted, for a transaction of the application. At once: one of SQLite may end in the same turn. */
  prepare(submissions: readonly Submission[]): readonly NewJob[];
}

export function admissionOf(context: SchedulerContext, submitter: Submitter, caller: Caller): Admission {
  const { store, notify, sealing } = context;
  const admit = (submissions: readonly Submission[]): NewJob[] => {
    const jobs = submissions.length === 1 ? (submissions[0]?.jobs ?? []) : submissions.flatMap((one) => one.jobs);
    authorizeJobs(caller, jobs);
    for (const job of jobs) {
      job.submittedBy = caller.submitter;
      // A caller that is restricted to queues cannot replace or stop jobs of others by a unique key.
      if (caller.queues !== null && job.unique !== null) job.unique = { ...job.unique, within: caller.queues };
    }
    return jobs.map((job) => addInstallationTargets(job, notify));
  };
  return {
    async submit(submissions, options, signal) {
      const jobs = admit(submissions);
      for (const { jobs: members, failFast, pointer } of submissions) {
        if (failFast) requireRoom(members, await store.workers(signal), pointer);
      }
      return await submitter.submit(jobs, options, signal);
    },
    prepare: (submissions) => sealJobs(admit(submissions), sealing.sealNow()),
  };
}

/** Throws `forbidden` if the caller is restricted to queues and a job, or a command that notifies, is for another one. */
export function authorizeJobs(
  caller: Caller,
  jobs: Iterable<Pick<JobSpec, 'queue' | 'notify'>>,
  notify: readonly Notify[] = [],
): void {
  if (caller.queues === null) return;
  for (const queue of neededQueues(jobs, notify)) authorizeQueue(caller, queue);
}

export function authorizeQueue({ name, queues }: Caller, queue: string): void {
  if (queues === null || queues.includes(queue)) return;
  throw new WorkronError('forbidden', `${name} may not use the queue ${queue}, only ${queues.join(', ')}`);
}
