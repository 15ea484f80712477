/** The entry `workron/job`: declares jobs without loading anything else, for programs that only submit. */

export { type DeclaredJob, type JobType, job, type RunnableJob } from './library/job.ts';
export type { Duration, JobOptions } from './library/options.ts';
export type { Schema } from './library/schema.ts';
