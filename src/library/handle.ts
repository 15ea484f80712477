/** Handles of submitted jobs. */

import { parseDuration } from '../core/duration.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { isTerminal } from '../core/job.ts';
import { NEVER } from '../core/never.ts';
import type { ThrownBrief } from '../core/outcome.ts';
import { systemClock } from '../ops/clock.ts';
import type { JobCalls } from './engine.ts';
import type { Job, JobDetail } from './messages.ts';
import type { Duration } from './options.ts';

export interface WaitOptions {
  /** Rejects with a `TimeoutError` after this time. The job continues. */
  timeout?: Duration | undefined;
  signal?: AbortSignal | undefined;
}

const POLL_MS = 30_000;
/** The pauses while the store or the server cannot be reached. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** The store or the server may be back later, and the job goes on meanwhile. A Workron that was stopped does not come back. */
function isOutage(error: unknown): boolean {
  return isWorkronError(error) && error.retryable && error.code !== 'shutting_down';
}

const NONE: readonly never[] = [];

/** A submitted job. */
export class Handle<Result = unknown> {
  readonly id: string;
  /** True if a unique key led to a job that existed before. */
  readonly deduplicated: boolean;
  readonly #calls: JobCalls;
  readonly #others: readonly Handle<Result>[];

  /** @internal Not declared. `others`: the other members of its gang, by rank. */
  constructor(calls: JobCalls, id: string, deduplicated = false, others: readonly Handle<Result>[] = NONE) {
    this.#calls = calls;
    this.id = id;
    this.deduplicated = deduplicated;
    this.#others = others;
  }

  /** The members of the gang that was submitted, by rank, this one first. For any other job, this one alone. */
  get members(): readonly Handle<Result>[] {
    return [this, ...this.#others];
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
  job(options: { signal?: AbortSignal } = {}): Promise<JobDetail> {
    return this.#calls.api.readJob(this.id, options);
  }

  cancel(options: { signal?: AbortSignal } = {}): Promise<Job> {
    return this.#calls.api.cancelJob(this.id, options);
  }

  retry(options: { signal?: AbortSignal } = {}): Promise<Job> {
    return this.#calls.api.retryJob(this.id, options);
  }
}

/** The job of a handle failed, was cancelled or skipped. Its `cause` is the error that the handler threw. */
export class JobFailed extends Error {
  readonly job: Job;

  constructor(job: Job) {
    const name = job.name ?? job.handler ?? job.step;
    const why = job.error === null ? (job.reason ?? '') : job.error.split('\n', 1)[0];
    const text = `job ${job.id}${name === null ? '' : ` (${name})`} ${job.status}${why === '' ? '' : `: ${why}`}`;
    const cause = errorOf(job);
    super(text, cause === undefined ? undefined : { cause });
    this.name = 'JobFailed';
    this.job = job;
  }

  get status(): Job['status'] {
    return this.job.status;
  }

  get reason(): Job['reason'] {
    return this.job.reason;
  }

  /** The code of the error that the handler threw, such as that of a `Fatal`; `null` if it has none. */
  get code(): string | null {
    return this.job.thrown?.code ?? null;
  }

  /** The details of the `Fatal` that the handler threw; `null` if it has none. */
  get details(): unknown {
    return this.job.thrown?.details ?? null;
  }
}

/** The error that the handler threw, and its causes: with their names, messages and codes, but not their classes. */
function errorOf(job: Job): Error | undefined {
  if (job.thrown === null) return undefined;
  const { causes, errors } = job.thrown;
  const cause = causes.reduceRight<Error | undefined>(
    (inner, one) => restored(one, new Error(one.message, by(inner))),
    undefined,
  );
  const { message } = job.thrown;
  if (errors === undefined) return restored(job.thrown, new Error(message, by(cause)));
  const members = errors.map((one) => restored(one, new Error(one.message)));
  return restored(job.thrown, new AggregateError(members, message, by(cause)));
}

function by(cause: Error | undefined): ErrorOptions | undefined {
  return cause === undefined ? undefined : { cause };
}

function restored({ name, code }: ThrownBrief, error: Error): Error {
  error.name = name;
  error.stack = `${name}: ${error.message}`;
  return code === null ? error : Object.assign(error, { code });
}

export function msOf(duration: Duration): number {
  const ms = parseDuration(duration);
  if (ms === undefined) throw new WorkronError('bad_request', `Expected a duration such as "90s", got ${duration}`);
  return ms;
}
