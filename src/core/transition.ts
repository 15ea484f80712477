/** The whole state machine. Decides; does not write. */

import { backoffMs } from './backoff.ts';
import { WorkronError } from './error.ts';
import type { AttemptOutcome, Counters, Job, Reason, Status, TerminalStatus } from './job.ts';
import type { Outcome } from './outcome.ts';

/** From so many interruptions on, each one counts as a failure. */
export const FREE_INTERRUPTIONS = 10;

export type JobEvent =
  | { type: 'settle'; outcome: Exclude<Outcome, { type: 'succeeded' }> }
  /** Its worker fell silent; `seenAt` is when it was last heard, which must still be so. */
  | { type: 'lose'; workerSeenAt: number }
  /** What waits for this job in vain is cancelled with it; if `keepDependents`, it is judged by its conditions as after any other end. */
  | { type: 'cancel'; keepDependents?: boolean }
  | { type: 'expire' }
  | { type: 'retry' };

/** Every field that the decision used: where one has changed since, the change is not written. */
export interface Fence {
  jobId: number;
  status: Status;
  attempt: number;
  workerId: number | null;
  cancelRequested: boolean;
  counters: Counters;
  /** The worker was last heard at this instant, and not since. */
  workerSeenAt?: number;
}

/** What goes into the attempt's record. Start, end and worker are known to the store. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
}

export type Change =
  /** A running job is asked to stop. */
  | { kind: 'flag'; fence: Fence; keepDependents?: boolean }
  /**
   * Back to wait: `delayMs` 0 is pending, due when it was before, so that it keeps its place; else scheduled, due so long
   * from now. The attempt that ended is recorded.
   */
  | { kind: 'requeue'; fence: Fence; counters: Counters; delayMs: number; record: AttemptEnd }
  /** The end. `record` is `null` where no attempt was running. */
  | {
      kind: 'end';
      fence: Fence;
      counters: Counters;
      status: TerminalStatus;
      reason: Reason | null;
      record: AttemptEnd | null;
      error: string | null;
      /** Of a waiting job: cancelled without those who wait for it. A running one has it from its flag. */
      keepDependents?: boolean;
    }
  /** A person's retry: a terminal job waits again, due now, with a full budget and a new `expiresAt` where it has a start timeout. */
  | { kind: 'reopen'; fence: Fence; counters: Counters };

/** What must follow from `event`, or `undefined` where nothing has to. Throws `illegal_transition` where it cannot. `random` is in [0, 1). */
export function transition(job: Job, event: JobEvent, random: number): Change | undefined {
  const fence = fenceOf(job);
  switch (event.type) {
    case 'cancel':
      return cancel(job, fence, event.keepDependents ?? false);
    case 'retry':
      if (job.status !== 'failed' && job.status !== 'cancelled' && job.status !== 'skipped')
        throw illegal(job, 'retry');
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
    case 'lose':
      if (job.status !== 'running') throw illegal(job, 'lose');
      // It waited at its worker and had not started: nothing is lost but the claim.
      if (job.startedAt === null) {
        return settle(job, { ...fence, workerSeenAt: event.workerSeenAt }, { type: 'returned' }, random);
      }
      return lose(job, { ...fence, workerSeenAt: event.workerSeenAt }, random);
    case 'settle':
      if (job.status !== 'running') throw illegal(job, 'settle');
      return settle(job, fence, event.outcome, random);
  }
}

function cancel(job: Job, fence: Fence, keepDependents: boolean): Change | undefined {
  switch (job.status) {
    case 'cancelled':
      return undefined;
    case 'running':
      return job.cancelRequestedAt === null
        ? { kind: 'flag', fence, ...(keepDependents ? { keepDependents } : {}) }
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
        ...(keepDependents ? { keepDependents } : {}),
      };
    default:
      throw illegal(job, 'cancel');
  }
}

function lose(job: Job, fence: Fence, random: number): Change {
  const record: AttemptEnd = {
    outcome: 'lost',
    exitCode: null,
    signal: null,
    error: 'the worker vanished: no heartbeat within its lease',
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
      // At least a moment: without one it would keep its place, and a job that snoozes on and on would hold up its queue.
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
      const delayMs = backoffMs(job.backoff, counters.failures, random);
      return retryOrFail(job, fence, { counters, record, reason: 'timeout', delayMs });
    }
    case 'failed': {
      counters.failures += 1;
      const reason = outcome.fatal ? 'fatal' : outcome.signal === null ? 'exit' : 'signal';
      if (outcome.fatal || !mayRetry(job, outcome.exitCode)) return fail(fence, counters, record, reason);
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

function mayRetry(job: Job, exitCode: number | null): boolean {
  if (exitCode === null) return true;
  if (job.noRetryOn?.includes(exitCode)) return false;
  return job.retryOn === null || job.retryOn.includes(exitCode);
}

/** What the attempt's record will say of an outcome, whatever becomes of the job. */
export function recordOf(outcome: Outcome): AttemptEnd {
  switch (outcome.type) {
    case 'succeeded':
      return { outcome: 'done', exitCode: outcome.exitCode, signal: null, error: null };
    case 'failed':
      return { outcome: 'failed', exitCode: outcome.exitCode, signal: outcome.signal, error: outcome.error };
    case 'timed_out':
      return { outcome: 'timeout', exitCode: outcome.exitCode, signal: outcome.signal, error: outcome.error };
    case 'interrupted':
      return { outcome: 'interrupted', exitCode: null, signal: null, error: outcome.error };
    case 'snoozed':
      return { outcome: 'snoozed', exitCode: null, signal: null, error: null };
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

function illegal(job: Job, what: string): WorkronError {
  return new WorkronError('illegal_transition', `Cannot ${what} job ${job.id}: it is ${job.status}`, { jobId: job.id });
}
