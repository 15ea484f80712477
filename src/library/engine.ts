/**
 * The library's calls about jobs and schedules, to a scheduler in this process or a server behind HTTP. An engine has no
 * lifecycle: it belongs to a `Backend`, which opens and closes what the calls use.
 */

import type { Attempt, Job, JobDetail } from '../api/job.ts';
import type { RunStatement } from '../store/transactional.ts';
import type { JobType } from './job.ts';
import type { JobTemplate } from './options.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

export interface Request {
  template: JobTemplate;
  /** The input as JSON, after its check; `undefined` for a command. */
  input?: unknown;
}

export interface Submitted {
  id: string;
  deduplicated: boolean;
}

interface EngineSubmitOptions {
  /** The idempotency key, and a fingerprint of the requests. */
  idempotency?: { key: string; fingerprint: string };
  /** Who submits. */
  actor?: string;
}

export interface Completion {
  jobId: number;
  attempt: number;
  workerId: number;
  exitCode: null;
  result: unknown;
}

export interface Engine {
  /** Submits all jobs or none, in order; a gang is as many as its size. Resolves once they are on disk. */
  submit(
    requests: readonly Request[],
    options: EngineSubmitOptions,
    signal: AbortSignal | undefined,
  ): Promise<Submitted[]>;
  /** Submits inside a transaction of the application; `bad_request` if the backend does not support it. */
  enlist(
    requests: readonly Request[],
    run: RunStatement,
    options: Pick<EngineSubmitOptions, 'actor'> & { signal: AbortSignal },
  ): Promise<Submitted[]>;
  /** Ends an attempt as done inside a transaction of the application. `flush` writes what it has logged and reported. */
  complete(success: Completion, run: RunStatement, flush: () => Promise<unknown> | undefined): Promise<void>;
  /** From now on, inputs of workflow steps are checked against the schemas of these jobs. Absent over HTTP. */
  checkStepsOf?(jobs: readonly JobType[]): void;
  /** Returns the job once it has ended, or as it is after `timeoutMs` or earlier. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<Job>;
  job(id: string, signal: AbortSignal): Promise<JobDetail>;
  attempts(id: string, signal: AbortSignal): Promise<Attempt[]>;
  cancel(id: string, signal: AbortSignal): Promise<Job>;
  retry(id: string, signal: AbortSignal): Promise<Job>;
  readonly schedules: ScheduleCalls;
}

/** The calls of a job's handle. */
export type JobCalls = Pick<Engine, 'wait' | 'job' | 'cancel' | 'retry'>;
