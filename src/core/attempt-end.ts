/** How an attempt ended. */

import type { Outcome, Thrown, Usage } from './outcome.ts';

/** How an attempt can end. */
export const ATTEMPT_OUTCOMES = [
  'done',
  'failed',
  'timeout',
  'lost',
  'interrupted',
  'snoozed',
  'suspended',
  'cancelled',
  'returned',
  'stopped',
] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** The record of an attempt, to which the store adds start, end and worker. */
export interface AttemptEnd {
  outcome: AttemptOutcome;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
  thrown?: Thrown | null;
  usage?: Usage | null;
}

/** Returns the attempt's record for an outcome. It does not depend on what happens to the job. */
export function recordOf(outcome: Outcome): AttemptEnd {
  return outcome.usage === undefined ? endOf(outcome) : { ...endOf(outcome), usage: outcome.usage };
}

function endOf(outcome: Outcome): AttemptEnd {
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
    case 'suspended':
      return { outcome: 'suspended', exitCode: null, signal: null, error: null };
    case 'cancelled':
      return { outcome: 'cancelled', exitCode: null, signal: null, error: outcome.error };
    case 'returned':
      return { outcome: 'returned', exitCode: null, signal: null, error: null };
  }
}

/** An ended attempt of a job. */
export interface Attempt {
  jobId: number;
  attempt: number;
  workerId: number | null;
  startedAt: number;
  endedAt: number;
  outcome: AttemptOutcome;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
  thrown: Thrown | null;
  /** `null` if its worker did not report it. */
  usage: Usage | null;
}
