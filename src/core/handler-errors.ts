/** Errors that a handler may throw to control what happens next. */

import { parseDuration } from './duration.ts';
import { WorkronError } from './error.ts';
import type { Thrown } from './outcome.ts';

/** The attempt failed; the next one starts after this delay instead of the backoff. */
export class RetryAfter extends Error {
  readonly delayMs: number;

  constructor(delay: string | number, message = 'the handler asked for a retry') {
    super(message);
    this.name = 'RetryAfter';
    this.delayMs = durationOf(delay);
  }
}

/** Run the job again after this delay. This is not a failure and does not count against `maxAttempts`. */
export class Snooze extends Error {
  readonly delayMs: number;

  /** `reason` is shown on the job and its attempt. */
  constructor(delay: string | number, reason = '') {
    super(reason);
    this.name = 'Snooze';
    this.delayMs = durationOf(delay);
  }
}

export interface RateLimitedOptions {
  /** One of the job's rates. Default: all of them. */
  key?: string | undefined;
  /** Shown on the job and its attempt. */
  reason?: string | undefined;
}

/**
 * What the job calls has asked to wait. No job with the same rate starts for this long, and the job runs again after it. This
 * is a snooze: it does not count against `maxAttempts`.
 */
export class RateLimited extends Snooze {
  readonly key: string | undefined;

  constructor(delay: string | number, { key, reason = '' }: RateLimitedOptions = {}) {
    super(delay, reason);
    this.name = 'RateLimited';
    this.key = key;
  }
}

export interface FatalOptions extends ErrorOptions {
  /** For programs: `JobFailed.code`. */
  code?: string | undefined;
  /** For programs: `JobFailed.details`. JSON, at most 8 KiB. */
  details?: unknown;
}

/** The attempt failed, and the job must not be retried. */
export class Fatal extends Error {
  readonly code?: string;
  readonly details: unknown;

  constructor(message: string, { code, details, ...options }: FatalOptions = {}) {
    super(message, options);
    this.name = 'Fatal';
    if (code !== undefined) this.code = code;
    this.details = details;
  }
}

/** The job ends as `cancelled`. */
export class Cancel extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Cancel';
  }
}

/**
 * A step has failed, and has no tries left. Thrown into the function, which may catch it and undo what other steps have done. If it
 * does not, the job has failed.
 */
export class StepFailed extends Error {
  readonly step: string;
  /** The class, the code and the details of the error that the step threw last. */
  readonly thrown: Thrown;

  constructor(step: string, thrown: Thrown) {
    super(`step ${step}: ${thrown.message}`);
    this.name = 'StepFailed';
    this.step = step;
    this.thrown = thrown;
  }
}

/** What is stored under the name of a step does not fit the function as it is now. */
export class StepChanged extends Error {
  readonly code = 'step_changed';
  readonly step: string;

  constructor(step: string, why: string) {
    super(`step ${step} has changed: ${why}`);
    this.name = 'StepChanged';
    this.step = step;
  }
}

export type StopCause = 'timeout' | 'cancelled' | 'shutdown' | 'lost' | 'suspended';

/**
 * The reason of an aborted handler signal: the timeout has passed, the job was cancelled, the worker is shutting down,
 * the lease was lost, or the function was suspended and goes on in another attempt.
 */
export class Stopped extends Error {
  readonly reason: StopCause;

  constructor(reason: StopCause, message: string) {
    super(message);
    this.name = 'Stopped';
    this.reason = reason;
  }
}

function durationOf(value: string | number): number {
  const ms = parseDuration(value);
  if (ms === undefined) throw new WorkronError('bad_request', `Expected a duration such as "90s", got ${value}`);
  return ms;
}
