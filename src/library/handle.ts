/** Handles of submitted jobs. */

import type { Job, JobDetail } from '../api/job.ts';
import { parseDuration } from '../core/duration.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { isTerminal } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import { systemClock } from '../ops/clock.ts';
import type { JobCalls } from './engine.ts';
import type { Duration } from './options.ts';

export interface WaitOptions {
  /** Rejects with a `TimeoutError` after this time. The job continues. */
  timeout?: Duration;
  signal?: AbortSignal;
}

const POLL_MS = 30_000;
/** The pauses while the store or the server cannot be reached. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** The store or the server may be back later, and the job goes on meanwhile. A Workron that was stopped does not come back. */
function isOutage(error: unknown): boolean {
  return isWorkronError(error) && error.retryable && error.code !== 'shutting_down';
}

/** A submitted job. */
export class Handle<Result = unknown> {
  readonly id: string;
  /** True if a unique key led to a job that existed before. */
  readonly deduplicated: boolean;
  readonly #calls: JobCalls;

  constructor(calls: JobCalls, id: string, deduplicated = false) {
    this.#calls = calls;
    this.id = id;
    this.deduplicated = deduplicated;
  }

  /** Returns the job's result once it is done. Rejects with `JobFailed` if it failed, was cancelled or skipped. */
  async result(options: WaitOptions = {}): Promise<Result> {
    const job = await this.ended(options);
    if (job.status === 'done') return job.result as Result;
    throw new JobFailed(job);
  }

  /** Returns the job once it has ended, whatever its status. If the store cannot be reached, it waits until it can again. */
  async ended({ timeout, signal = NEVER }: WaitOptions = {}): Promise<Job> {
    const limit = timeout === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(msOf(timeout))]);
    for (let failures = 0; ; ) {
      limit.throwIfAborted();
      try {
        const job = await this.#calls.wait(this.id, POLL_MS, limit);
        if (isTerminal(job.status)) return job;
        failures = 0;
      } catch (error) {
        if (limit.aborted || !isOutage(error)) throw error;
        await systemClock.sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), limit);
        failures += 1;
      }
    }
  }

  /** Returns the job as it is now, with the reason why it waits. */
  job({ signal = NEVER }: { signal?: AbortSignal } = {}): Promise<JobDetail> {
    return this.#calls.job(this.id, signal);
  }

  cancel({ signal = NEVER }: { signal?: AbortSignal } = {}): Promise<Job> {
    return this.#calls.cancel(this.id, signal);
  }

  retry({ signal = NEVER }: { signal?: AbortSignal } = {}): Promise<Job> {
    return this.#calls.retry(this.id, signal);
  }
}

/** The job of a handle failed, was cancelled or skipped. */
export class JobFailed extends Error {
  readonly job: Job;

  constructor(job: Job) {
    const name = job.name ?? job.handler ?? job.step;
    const why = job.error === null ? (job.reason ?? '') : job.error.split('\n', 1)[0];
    super(`job ${job.id}${name === null ? '' : ` (${name})`} ${job.status}${why === '' ? '' : `: ${why}`}`);
    this.name = 'JobFailed';
    this.job = job;
  }

  get status(): Job['status'] {
    return this.job.status;
  }

  get reason(): Job['reason'] {
    return this.job.reason;
  }
}

export function msOf(duration: Duration): number {
  const ms = parseDuration(duration);
  if (ms === undefined) throw new WorkronError('bad_request', `Expected a duration such as "90s", got ${duration}`);
  return ms;
}
