/** Where the library's calls go: a scheduler in this process, or one behind HTTP. */

import type { Attempt, Job, JobDetail } from '../api/job.ts';
import type { RunStatement } from '../store/transactional.ts';
import type { JobTemplate } from './options.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

export interface Request {
  template: JobTemplate;
  /** JSON, checked; `undefined` for a command. */
  input?: unknown;
}

export interface Submitted {
  id: string;
  deduplicated: boolean;
}

export interface EngineSubmitOptions {
  /** With the fingerprint of what was asked for. */
  idempotency?: { key: string; fingerprint: string };
}

export interface Completion {
  jobId: number;
  attempt: number;
  workerId: number;
  exitCode: null;
  result: unknown;
}

export interface Engine {
  /** All or none, in order. Resolves once they are on disk. `signal` where the caller may give up. */
  submit(
    requests: readonly Request[],
    options: EngineSubmitOptions,
    signal: AbortSignal | undefined,
  ): Promise<Submitted[]>;
  /** The same inside a transaction of the application's own; `bad_request` where that cannot be. */
  enlist(requests: readonly Request[], run: RunStatement, signal: AbortSignal): Promise<Submitted[]>;
  /** Ends an attempt as done inside such a transaction. */
  complete(success: Completion, run: RunStatement): Promise<void>;
  /** The job once it has ended, or as it is after `timeoutMs` or earlier. */
  wait(id: string, timeoutMs: number, signal: AbortSignal): Promise<Job>;
  job(id: string, signal: AbortSignal): Promise<JobDetail>;
  attempts(id: string, signal: AbortSignal): Promise<Attempt[]>;
  cancel(id: string, signal: AbortSignal): Promise<Job>;
  retry(id: string, signal: AbortSignal): Promise<Job>;
  readonly schedules: ScheduleCalls;
}

/** What a handle asks for. */
export type JobCalls = Pick<Engine, 'wait' | 'job' | 'cancel' | 'retry'>;
