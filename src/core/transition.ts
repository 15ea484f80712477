/** The whole state machine. Decides; does not write. */

import { backoffMs } from './backoff.ts';
import { WorkronError } from './error.ts';
import type { AttemptOutcome, Counters, Job, Reason, Status, TerminalStatus } from './job.ts';
import type { Outcome, Thrown } from './outcome.ts';

/** Interruptions beyond this number count as failures. */
export const FREE_INTERRUPTIONS = 10;

export type JobEvent =
  | { type: 'settle'; outcome: Exclude<Outcome, { type: 'succeeded' }> }
  /**
   * Its worker sent no heartbeat, or its process is known to have ended. The change is written only if the worker was last
   * seen at `workerSeenAt`.
   */
  | { type: 'lose'; workerSeenAt: number; processEnded?: boolean }
  /**
   * Descendants that can no longer run are cancelled with the job; with `keepChildren`, each child is judged by its
   * conditions, as after any other end.
   */
  | { type: 'cancel'; keepChildren?: boolean }
  | { type: 'expire' }
  /** A claim has found a limit full, and the job does not wait for it. */
  | { type: 'skip' }
  | { type: 'retry' };

/** Every field that the decision used. If one has changed since, the change is not written. */
export interface Fence {
  jobId: number;
  status: Status;
  attempt: number;
  workerId: number | null;
  cancelRequested: boolean;
  counters: Counters;
  /** The worker was last seen at this instant, and not since. */
  workerSeenAt?: number;
}

/** The record of an attempt, to which the store adds start, end and worker. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
  thrown?: Thrown | null;
}

export type Change =
  /** Asks a running job to stop. */
  | { kind: 'flag'; fence: Fence; keepChildren?: boolean }
  /**
   * The job waits again and the ended attempt is recorded. With `delayMs` 0 the job is pending and keeps its due
   * instant and so its place; else it is scheduled, due after the delay.
   */
  | { kind: 'requeue'; fence: Fence; counters: Counters; delayMs: number; record: AttemptEnd }
  /** The job ends. `record` is `null` if no attempt was running. */
  | {
      kind: 'end';
      fence: Fence;
      counters: Counters;
      status: TerminalStatus;
      reason: Reason | null;
      record: AttemptEnd | null;
      error: string | null;
      /** For a waiting job. A running job has this from its `flag`. */
      keepChildren?: boolean;
    }
  /**
   * A user's retry: a terminal job is due now, with all its attempts and, if it has a start timeout, a new `expiresAt`.
   */
  | { kind: 'reopen'; fence: Fence; counters: Counters };

/**
 * Decides what follows from `event`: a change, or `undefined` for none. Throws `illegal_transition` if the event is not
 * allowed. `random` is in [0, 1).
 */
export function transition(job: Job, event: JobEvent, random: number): Change | undefined {
  const fence = fenceOf(job);
  switch (event.type) {
    case 'cancel':
      return cancel(job, fence, event.keepChildren ?? false);
    case 'retry':
      if (job.status !== 'failed' && job.status !== 'cancelled' && job.status !== 'skipped')
        throw illegal(job, 'retry', retryHint(job));
      return { kind: 'reopen', fence, counters: { ...countersOf(job), failures: 0, losses: 0 } };
    case 'expire': {
      if (job.status !== 'pending' && job.status !== 'scheduled') return undefined;
      const error = 'not started within its start_timeout; add workers, raise priority or start_timeout';
      return {
        kind: 'end',
        fence,
        counters: countersOf(job),
        status: 'failed',
        reason: 'expired',
        record: null,
        error,
      };
    }
    case 'skip': {
      if (job.status !== 'pending') return undefined;
      const error = 'a limit was full and on_limit is skip';
      return { kind: 'end', fence, counters: countersOf(job), status: 'skipped', reason: 'limit', record: null, error };
    }
    case 'lose':
      if (job.status !== 'running') throw illegal(job, 'lose');
      // A prefetched job that had not started: only the claim is lost.
      if (job.startedAt === null) {
        return settle(job, { ...fence, workerSeenAt: event.workerSeenAt }, { type: 'returned' }, random);
      }
      return lose(job, { ...fence, workerSeenAt: event.workerSeenAt }, { ...event, random });
    case 'settle':
      if (job.status !== 'running') throw illegal(job, 'settle');
      return settle(job, fence, event.outcome, random);
  }
}

function cancel(job: Job, fence: Fence, keepChildren: boolean): Change | undefined {
  switch (job.status) {
    case 'cancelled':
      return undefined;
    case 'running':
      return job.cancelRequestedAt === null
        ? { kind: 'flag', fence, ...(keepChildren ? { keepChildren } : {}) }
        : undefined;
    case 'blocked':
    case 'scheduled':
    case 'pending':
      return {
        kind: 'end',
        fence,
        counters: countersOf(job),
        status: 'cancelled',
        reason: 'cancelled',
        record: null,
        error: null,
        ...(keepChildren ? { keepChildren } : {}),
      };
    default:
      throw illegal(job, 'cancel');
  }
}

function lose(
  job: Job,
  fence: Fence,
  { processEnded = false, random }: { processEnded?: boolean; random: number },
): Change {
  const record: AttemptEnd = {
    outcome: 'lost',
    exitCode: null,
    signal: null,
    error: processEnded ? 'the process of the worker ended' : 'the worker vanished: no heartbeat within its lease',
  };
  if (job.cancelRequestedAt !== null) return cancelled(job, fence, record);
  const counters = { ...countersOf(job), failures: job.failures + 1, losses: job.losses + 1 };
  const delayMs = job.losses === 0 ? 0 : backoffMs(job.backoff, job.failures + 1, random);
  return retryOrFail(job, fence, { counters, record, reason: 'lost', delayMs });
}

function settle(job: Job, fence: Fence, outcome: Exclude<Outcome, { type: 'succeeded' }>, random: number): Change {
  const record = recordOf(outcome);
  const counters = countersOf(job);
  if (job.cancelRequestedAt !== null || outcome.type === 'cancelled') return cancelled(job, fence, record);
  switch (outcome.type) {
    case 'returned':
      return { kind: 'requeue', fence, counters, delayMs: 0, record };
    case 'snoozed': {
      counters.snoozes += 1;
      if (job.rerun === 'never') return fail(fence, counters, record, 'interrupted');
      // A delay of 0 would keep its place, and a job that always snoozes would hold up its queue.
      return { kind: 'requeue', fence, counters, delayMs: Math.max(outcome.delayMs, 1), record };
    }
    case 'interrupted': {
      counters.interruptions += 1;
      if (job.rerun === 'never') return fail(fence, counters, record, 'interrupted');
      if (counters.interruptions <= FREE_INTERRUPTIONS) return { kind: 'requeue', fence, counters, delayMs: 0, record };
      counters.failures += 1;
      const delayMs = backoffMs(job.backoff, counters.failures, random);
      return retryOrFail(job, fence, { counters, record, reason: 'interrupted', delayMs });
    }
    case 'timed_out': {
      counters.failures += 1;
      if (!mayRetry(job, outcome)) return fail(fence, counters, record, 'timeout');
      const delayMs = backoffMs(job.backoff, counters.failures, random);
      return retryOrFail(job, fence, { counters, record, reason: 'timeout', delayMs });
    }
    case 'failed': {
      counters.failures += 1;
      const reason = outcome.fatal ? 'fatal' : outcome.signal === null ? 'exit' : 'signal';
      if (outcome.fatal || !mayRetry(job, outcome)) return fail(fence, counters, record, reason);
      const delayMs = outcome.retryAfterMs ?? backoffMs(job.backoff, counters.failures, random);
      return retryOrFail(job, fence, { counters, record, reason, delayMs });
    }
  }
}

interface Failure {
  counters: Counters;
  record: AttemptEnd;
  reason: Reason;
  delayMs: number;
}

function retryOrFail(job: Job, fence: Fence, { counters, record, reason, delayMs }: Failure): Change {
  if (job.rerun === 'never' || counters.failures >= job.maxAttempts) return fail(fence, counters, record, reason);
  return { kind: 'requeue', fence, counters, delayMs, record };
}

function fail(fence: Fence, counters: Counters, record: AttemptEnd, reason: Reason): Change {
  return { kind: 'end', fence, counters, status: 'failed', reason, record, error: record.error };
}

function cancelled(job: Job, fence: Fence, record: AttemptEnd): Change {
  const stopped: AttemptEnd = { ...record, outcome: 'cancelled' };
  return {
    kind: 'end',
    fence,
    counters: countersOf(job),
    status: 'cancelled',
    reason: 'cancelled',
    record: stopped,
    error: record.error,
  };
}

/**
 * `retryOn` lists the only ends of a command that are retried, so a signal and a timeout are not among them. An attempt with
 * neither exit code nor signal did not end by itself: the command could not be started, or the worker failed. Handlers have
 * no exit codes.
 */
function mayRetry(job: Job, outcome: Extract<Outcome, { type: 'failed' | 'timed_out' }>): boolean {
  const { exitCode, signal } = outcome;
  if (outcome.type === 'timed_out' || exitCode === null) {
    const wasStopped = outcome.type === 'timed_out' || signal !== null;
    return job.retryOn === null || job.handler !== null || !wasStopped;
  }
  if (job.noRetryOn?.includes(exitCode)) return false;
  return job.retryOn === null || job.retryOn.includes(exitCode);
}

/** Returns the attempt's record for an outcome. It does not depend on what happens to the job. */
export function recordOf(outcome: Outcome): AttemptEnd {
  switch (outcome.type) {
    case 'succeeded':
      return { outcome: 'done', exitCode: outcome.exitCode, signal: null, error: null };
    case 'failed':
      return {
        outcome: 'failed',
        exitCode: outcome.exitCode,
        signal: outcome.signal,
        error: outcome.error,
        ...(outcome.thrown === undefined ? {} : { thrown: outcome.thrown }),
      };
    case 'timed_out':
      return { outcome: 'timeout', exitCode: outcome.exitCode, signal: outcome.signal, error: outcome.error };
    case 'interrupted':
      return { outcome: 'interrupted', exitCode: null, signal: null, error: outcome.error };
    case 'snoozed':
      return { outcome: 'snoozed', exitCode: null, signal: null, error: outcome.error ?? null };
    case 'cancelled':
      return { outcome: 'cancelled', exitCode: null, signal: null, error: outcome.error };
    case 'returned':
      return { outcome: 'returned', exitCode: null, signal: null, error: null };
  }
}

export function fenceOf(job: Job): Fence {
  return {
    jobId: job.id,
    status: job.status,
    attempt: job.attempt,
    workerId: job.status === 'running' ? job.workerId : null,
    cancelRequested: job.cancelRequestedAt !== null,
    counters: countersOf(job),
  };
}

function countersOf(job: Job): Counters {
  return { failures: job.failures, interruptions: job.interruptions, snoozes: job.snoozes, losses: job.losses };
}

function illegal(job: Job, what: string, hint = ''): WorkronError {
  const message = `Cannot ${what} job ${job.id}: it is ${job.status}${hint}`;
  return new WorkronError('illegal_transition', message, { jobId: job.id });
}

/** What does what the user wanted instead. */
function retryHint({ status }: Job): string {
  if (status === 'done') return '; a rerun makes a new job of it';
  return status === 'scheduled' ? '; to start it now instead of then, edit it with delay 0s' : '';
}
