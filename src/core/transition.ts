/** The whole state machine. Decides; does not write. */

import { type AttemptEnd, recordOf } from './attempt-end.ts';
import { backoffMs } from './backoff.ts';
import { WorkronError } from './error.ts';
import { countersOf, type Fence, fenceOf } from './fence.ts';
import { type GangRow, type MemberSuccess, restarts } from './gang.ts';
import type { Counters, Job, Reason, TerminalStatus } from './job.ts';
import { memberChange, stopped, stopsWithGang } from './member.ts';
import type { Outcome } from './outcome.ts';

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
  /** A member of a gang that restarts has succeeded. Other successes need no decision. */
  | { type: 'succeed'; success: MemberSuccess }
  /** The gang of a member will start again: a running member is asked to stop, one that has succeeded waits again. */
  | { type: 'stop'; success: MemberSuccess | null }
  /** All members of a gang have succeeded, this one with `success`. */
  | { type: 'finish'; success: MemberSuccess }
  /** All members of a gang that had places have succeeded, and this one had none. */
  | { type: 'leave' }
  | { type: 'expire' }
  /** A claim has found a limit full, and the job does not wait for it. */
  | { type: 'skip' }
  | { type: 'retry' };

export type Change =
  /** Asks a running job to stop; with `gangStop`, so that its gang can start again. */
  | { kind: 'flag'; fence: Fence; keepChildren?: boolean; gangStop?: boolean }
  /** A member of a gang has succeeded. It is blocked until the others have, too, and keeps worker and start of its attempt. */
  | { kind: 'hold'; fence: Fence; success: MemberSuccess }
  /**
   * The job waits again and the ended attempt is recorded. With `delayMs` 0 the job is pending and keeps its due
   * instant and so its place; else it is scheduled, due after the delay. `suspect` is absent if that stays as it is.
   * With `awaits` the job is suspended: the store makes it due when the first of these steps is over.
   */
  | {
      kind: 'requeue';
      fence: Fence;
      counters: Counters;
      delayMs: number;
      record: AttemptEnd;
      suspect?: boolean;
      awaits?: readonly string[];
    }
  /** The job ends. `record` is `null` if no attempt was running. */
  | {
      kind: 'end';
      fence: Fence;
      counters: Counters;
      status: TerminalStatus;
      reason: Reason | null;
      record: AttemptEnd | null;
      error: string | null;
      /** For a member of a gang that is done. */
      result?: unknown;
      /** For a waiting job. A running job has this from its `flag`. */
      keepChildren?: boolean;
    }
  /**
   * A user's retry: a terminal job is due now, with all its attempts and, if it has a start timeout, a new `expiresAt`.
   */
  | { kind: 'reopen'; fence: Fence; counters: Counters };

/**
 * Decides what follows from `event`: a change, or `undefined` for none. Throws `illegal_transition` if the event is not
 * allowed. `random` is in [0, 1). `gang` is needed for the end of an attempt of a member whose gang restarts: the budget is the gang's.
 */
export function transition(job: Job, event: JobEvent, random: number, gang?: GangRow): Change | undefined {
  const fence = fenceOf(job);
  const budget: Budget = { random, spent: restarts(job) ? (gang?.failures ?? 0) : job.failures };
  switch (event.type) {
    case 'cancel':
      return cancel(job, fence, event.keepChildren ?? false);
    case 'retry':
      if (job.status !== 'failed' && job.status !== 'cancelled' && job.status !== 'skipped')
        throw illegal(job, 'retry', retryHint(job));
      if (job.reason === 'gang') throw illegal(job, 'retry', ': its gang has succeeded without it');
      return { kind: 'reopen', fence, counters: { ...countersOf(job), failures: 0, losses: 0 } };
    case 'succeed':
    case 'stop':
    case 'finish':
    case 'leave':
      return memberChange(job, event, gang);
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
      return lose(job, { ...fence, workerSeenAt: event.workerSeenAt }, { ...event, gang, budget });
    case 'settle':
      if (job.status !== 'running') throw illegal(job, 'settle');
      if (stopsWithGang(job, gang)) return stopped(job, fence, recordOf(event.outcome));
      return outlived(settle(job, fence, event.outcome, budget));
  }
}

interface Budget {
  random: number;
  /** The part of the budget that is spent: by the job or, where it restarts as a whole, by its gang. */
  spent: number;
}

function cancel(job: Job, fence: Fence, keepChildren: boolean): Change | undefined {
  switch (job.status) {
    case 'cancelled':
      return undefined;
    case 'running':
      return job.cancelRequestedAt === null || job.gangStop
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
  { processEnded = false, gang, budget }: { processEnded?: boolean; gang: GangRow | undefined; budget: Budget },
): Change {
  // A prefetched job that had not started, as far as is known: only the claim is lost. But it may have started, and ended its worker.
  if (job.startedAt === null && !job.gangStop) {
    const change = settle(job, fence, { type: 'returned' }, budget);
    return change.kind === 'requeue' ? { ...change, suspect: true } : change;
  }
  const record: AttemptEnd = {
    outcome: 'lost',
    exitCode: null,
    signal: null,
    error: processEnded ? 'the process of the worker ended' : 'the worker vanished: no heartbeat within its lease',
  };
  if (stopsWithGang(job, gang)) return stopped(job, fence, record);
  if (job.cancelRequestedAt !== null) return cancelled(job, fence, record);
  const counters = { ...countersOf(job), failures: job.failures + 1, losses: job.losses + 1 };
  const delayMs = job.losses === 0 ? 0 : backoffOf(job, budget);
  return retryOrFail(job, fence, { counters, record, reason: 'lost', delayMs, spent: budget.spent });
}

/** A worker that reports the end of an attempt was not ended by it. */
function outlived(change: Change): Change {
  return change.kind === 'requeue' && change.record.outcome !== 'returned' ? { ...change, suspect: false } : change;
}

function settle(job: Job, fence: Fence, outcome: Exclude<Outcome, { type: 'succeeded' }>, budget: Budget): Change {
  const { spent } = budget;
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
    case 'suspended':
      return { kind: 'requeue', fence, counters, delayMs: 1, record, awaits: outcome.awaits };
    case 'interrupted': {
      counters.interruptions += 1;
      if (job.rerun === 'never') return fail(fence, counters, record, 'interrupted');
      if (counters.interruptions <= FREE_INTERRUPTIONS) return { kind: 'requeue', fence, counters, delayMs: 0, record };
      counters.failures += 1;
      return retryOrFail(job, fence, {
        counters,
        record,
        reason: 'interrupted',
        delayMs: backoffOf(job, budget),
        spent,
      });
    }
    case 'timed_out': {
      counters.failures += 1;
      if (!mayRetry(job, outcome)) return fail(fence, counters, record, 'timeout');
      return retryOrFail(job, fence, { counters, record, reason: 'timeout', delayMs: backoffOf(job, budget), spent });
    }
    case 'failed': {
      counters.failures += 1;
      const reason = outcome.step ? 'step' : outcome.fatal ? 'fatal' : outcome.signal === null ? 'exit' : 'signal';
      if (outcome.fatal || outcome.step || !mayRetry(job, outcome)) return fail(fence, counters, record, reason);
      const delayMs = outcome.retryAfterMs ?? backoffOf(job, budget);
      return retryOrFail(job, fence, { counters, record, reason, delayMs, spent });
    }
  }
}

interface Failure {
  counters: Counters;
  record: AttemptEnd;
  reason: Reason;
  delayMs: number;
  /** The part of the budget that was spent before this failure. */
  spent: number;
}

function backoffOf({ backoff }: Job, { spent, random }: Budget): number {
  return backoffMs(backoff, spent + 1, random);
}

function retryOrFail(job: Job, fence: Fence, { counters, record, reason, delayMs, spent }: Failure): Change {
  if (job.rerun === 'never' || spent + 1 >= job.maxAttempts) return fail(fence, counters, record, reason);
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

function illegal(job: Job, what: string, hint = ''): WorkronError {
  const message = `Cannot ${what} job ${job.id}: it is ${job.status}${hint}`;
  return new WorkronError('illegal_transition', message, { jobId: job.id });
}

/** The action that does what the user wanted. */
function retryHint({ status }: Job): string {
  if (status === 'done') return '; a rerun makes a new job of it';
  return status === 'scheduled' ? '; to start it now instead of then, edit it with delay 0s' : '';
}

/** The changes that return jobs to their queues whose worker never received them. */
export function giveBack(jobs: readonly Job[]): Change[] {
  const changes = jobs.map((job) => transition(job, { type: 'settle', outcome: { type: 'returned' } }, 0));
  return changes.filter((change) => change !== undefined);
}
