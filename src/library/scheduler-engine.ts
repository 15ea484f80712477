/** Calls to a scheduler in this process. */

import { toCamel } from '../api/case.ts';
import { decode } from '../api/decode.ts';
import { label } from '../api/fields.ts';
import { type GangSubmission, membersOf } from '../api/gang.ts';
import { JobSubmission } from '../api/job-submission.ts';
import { jobToWire, newJobFrom } from '../api/job-wire.ts';
import { WorkronError } from '../core/error.ts';
import type { NewJob } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import type { SchedulerContext } from '../scheduler/context.ts';
import type { Submission } from '../scheduler/jobs/admit.ts';
import { newGangId } from '../scheduler/jobs/new-gang-id.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Transactional } from '../store/transactional.ts';
import type { OwnCalls, Request } from './engine.ts';
import type { JobTemplate } from './options.ts';
import { issuesBy } from './schema.ts';

/** `transactional` is the store's support for transactions of the application; `null` if it has none. */
export function schedulerEngine(
  scheduler: Scheduler,
  transactional: Transactional | null,
  context: Pick<SchedulerContext, 'inputChecks'> & { actor: string | null },
): OwnCalls {
  const { inputChecks, actor: own } = context;
  const as = (actor: string | undefined) => {
    const submitter = actor === undefined ? own : decode(label(128), actor, '/actor');
    return scheduler.as({ name: submitter ?? 'library', submitter, queues: null });
  };
  const inTransaction = (): Transactional => {
    if (transactional !== null) return transactional;
    throw new WorkronError(
      'bad_request',
      `tx: a ${scheduler.driver} store does not support transactions of the application`,
    );
  };
  const newJobs = jobMaker();
  return {
    async submit(requests, { actor, idempotency }, signal = NEVER) {
      const options = idempotency === undefined ? {} : { idempotency };
      const { items } = await as(actor).submit(requests.map(newJobs), options, signal);
      return items.map(({ job, deduplicated }) => ({ id: String(job.id), deduplicated }));
    },
    async enlist(requests, run, { actor, signal }) {
      const enlisted = await inTransaction().enlist(run, as(actor).prepare(requests.map(newJobs)), signal);
      return enlisted.map(({ id, deduplicated }) => ({ id: String(id), deduplicated }));
    },
    async complete(success, run) {
      await inTransaction().complete(run, success);
    },
    checkStepsOf(jobs) {
      for (const { name, input: schema } of jobs) if (schema !== null) inputChecks.set(name, issuesBy(schema));
    },
    wait: async (id, timeoutMs, signal) => toCamel(jobToWire(await scheduler.wait(storeId(id), timeoutMs, signal))),
  };
}

/** Checks each template once: most submissions share theirs. */
function jobMaker(): (request: Request) => Submission {
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
    return { jobs: gang === undefined ? [job] : membersOf(job, gang, newGangId()), failFast, pointer: '' };
  };
}

function storeId(id: string): number {
  if (/^[1-9]\d{0,15}$/.test(id)) return Number(id);
  throw new WorkronError('job_not_found', `No job ${id}`);
}
