import type { Job } from '../../../src/api/job.ts';
import type { JobSubmissionInput } from '../../../src/api/job-submission.ts';
import type { Schedule } from '../../../src/api/schedule.ts';

type JobSpec = Job | NonNullable<Schedule['job']>;

/** The submission that would create the job again, without defaults, backoff, values of `env` and a sealed input. */
export function submissionOf(job: JobSpec): JobSubmissionInput {
  return {
    ...(job.command !== null && { command: job.command }),
    ...(job.handler !== null && { handler: job.handler }),
    ...(job.input != null && { input: job.input }),
    ...(job.seal_input && { seal_input: true }),
    ...(job.name !== null && { name: job.name }),
    ...(job.queue !== 'default' && { queue: job.queue }),
    ...(job.priority !== 0 && { priority: job.priority }),
    ...(job.max_attempts !== 3 && { max_attempts: job.max_attempts }),
    ...(job.timeout !== 300_000 && { timeout: job.timeout }),
    ...(job.start_timeout !== null && { start_timeout: job.start_timeout }),
    ...(job.kill_grace !== 10_000 && { kill_grace: job.kill_grace }),
    ...(job.retry_on !== null && { retry_on: job.retry_on }),
    ...(job.no_retry_on !== null && { no_retry_on: job.no_retry_on }),
    ...(job.rerun !== 'safe' && { rerun: job.rerun }),
    ...(job.on_disconnect !== 'stop' && { on_disconnect: job.on_disconnect }),
    ...(job.cwd !== null && { cwd: job.cwd }),
    ...(job.tags.length > 0 && { tags: job.tags }),
    ...(job.requires.length > 0 && { requires: job.requires }),
    ...(Object.keys(job.resources).length > 0 && { resources: job.resources }),
    ...(job.fair_key !== null && { fair_key: job.fair_key }),
    ...(job.limits.length > 0 && { limits: job.limits }),
    ...(job.rates.length > 0 && { rates: job.rates }),
    ...(job.on_limit !== 'queue' && { on_limit: job.on_limit }),
  };
}
