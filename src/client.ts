/** The entry `workron/client`: a client for browsers and edge runtimes too. It needs nothing but `fetch`. */

export { type CallOptions, Client, type ClientOptions, type EventMessage, type LogEvent } from './api/client.ts';
export type { Attempt, Job, JobDetail, JobPage, SubmittedJob } from './api/job.ts';
export type { JobSubmissionInput } from './api/job-submission.ts';
export { type ErrorCode, isWorkronError, WorkronError } from './core/error.ts';
