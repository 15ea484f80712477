/** The library's public names. */

export type { CallOptions, EventMessage, List } from './api/calls.ts';
export { type ErrorCode, isWorkronError, WorkronError } from './core/error.ts';
export {
  Cancel,
  Fatal,
  type FatalOptions,
  RateLimited,
  type RateLimitedOptions,
  RetryAfter,
  Snooze,
  StepChanged,
  StepFailed,
  Stopped,
} from './core/handler-errors.ts';
export type { Mounted, MountOptions, MountUser } from './http/mounted.ts';
export type { ChildOptions, JobContext } from './library/context.ts';
export type { DurableCalls, RunStep } from './library/durable.ts';
export type { ApiCalls } from './library/engine.ts';
export { type Handle, JobFailed, type WaitOptions } from './library/handle.ts';
export { type DeclaredJob, type JobType, job, type RunnableJob } from './library/job.ts';
export type {
  Attempt,
  Backfill,
  Job,
  JobDetail,
  ListedJob,
  Schedule,
  ScheduleDetail,
  Tick,
  Workflow,
  WorkflowDetail,
} from './library/messages.ts';
export type { Middleware, RunCall, SubmitCall } from './library/middleware.ts';
export type { Notify } from './library/notify.ts';
export { type OpenOptions, open } from './library/open.ts';
export type { Duration, GangOptions, JobOptions, KeyLimit, KeyRate, SubmitOptions } from './library/options.ts';
export type { RunGang } from './library/run-gang.ts';
export type { RunParent } from './library/run-parent.ts';
export type { RunTick } from './library/run-tick.ts';
export type {
  BackfillOptions,
  CommandSchedule,
  JobSchedule,
  ScheduledOptions,
  ScheduleHandle,
  ScheduleRules,
  ScheduleTiming,
} from './library/schedule.ts';
export type { Schema } from './library/schema.ts';
export type { StepContext, StepName, StepOptions } from './library/step-values.ts';
export type { RunStatement, Transaction } from './library/transaction.ts';
export type { StartOptions, StopOptions, Workron } from './library/workron.ts';
