/**
 * Durable code: the steps of a job's function. After a crash, a retry or a wait the function runs again from its top, and what has a
 * name is not done again.
 */

import type { LeaseRef } from './lease.ts';
import { MAX_RESULT_BYTES, type Thrown } from './outcome.ts';

export const STEP_KINDS = ['step', 'sleep'] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** The maximum size of a step's result as JSON. */
export const MAX_STEP_BYTES = MAX_RESULT_BYTES;
/** The results of one job together. */
export const MAX_STEPS_BYTES = 64 * 1024 * 1024;
export const MAX_STEPS = 10_000;
export const MAX_STEP_NAME_LENGTH = 256;
/** A claim brings steps up to this size. A worker asks for the others. */
export const STEPS_PAGE_BYTES = 64 * 1024;
/** From this many failures of a job on, a step that ends no longer gives it all its attempts again. */
export const MAX_FAILURES_IN_ALL = 1_000;

/** What is stored about one name. */
export interface Step {
  name: string;
  kind: StepKind;
  /** Rises with each write: of two steps, the one that ended later has the higher one. */
  seq: number;
  /** The attempt that wrote it last. */
  attempt: number;
  /** The tries that failed, of a step that is tried again. */
  tries: number;
  startedAt: number;
  /** `null` while it is awaited. */
  endedAt: number | null;
  /** When a sleep is over, or a step is tried again. */
  until: number | null;
  /** JSON as text; `null` for none. */
  result: string | null;
  /** The error of a step that has failed for good. */
  thrown: Thrown | null;
}

/** A page of a job's steps, by `seq`. */
export interface StepsPage {
  steps: readonly Step[];
  /** Pass as `after` to read on; `null` if there are no more. */
  next: number | null;
}

/** Those of a job that was just claimed. */
export const UNREAD_STEPS: StepsPage = { steps: [], next: 0 };

/** What an attempt writes about a name, with the fence that it must still match. */
export interface StepWrite extends LeaseRef {
  workerId: number;
  name: string;
  kind: StepKind;
  tries: number;
  /** How long ago it started. */
  tookMs: number;
  /** `null`: it has ended. Else it is over, or is tried again, after this time or at this instant. */
  wait: { ms: number } | { at: number } | null;
  result: string | null;
  thrown: Thrown | null;
  /** The result is stored encrypted, as the input of the job is. */
  seal?: boolean;
}

/** Names that the function of an attempt did not ask for. */
export interface UnusedSteps extends LeaseRef {
  workerId: number;
  names: readonly string[];
}

/** Why a step cannot be written. `changed`: its name stands for another kind of call. */
export type StepRefusal = 'lease_lost' | 'changed' | 'too_many' | 'too_large';

/** The answer to a write: the step as it is stored, which may have ended before. */
export type StepWritten = { step: Step } | { refused: StepRefusal };

/** What is shown of a job that has steps. */
export interface DurableState {
  steps: number;
  /** Since when it is suspended; `null` if it is not. */
  suspendedAt: number | null;
  /** The names that its function did not ask for when it ended. */
  unused: readonly string[] | null;
}

/** What a job has in all. */
export interface StepTotals {
  steps: number;
  bytes: number;
  seq: number;
}

/** Decides what a write means: the step to store, nothing because it has ended before, or a refusal. */
export function recordStep(
  { name, kind, attempt, tries, tookMs, wait, result, thrown }: StepWrite,
  { stored, totals, now }: { stored: Step | undefined; totals: StepTotals; now: number },
): { step: Step; totals: StepTotals } | StepWritten {
  if (stored !== undefined && stored.kind !== kind) return { refused: 'changed' };
  if (stored !== undefined && stored.endedAt !== null) return { step: stored };
  const bytes = result === null ? 0 : new TextEncoder().encode(result).length;
  const after = {
    steps: totals.steps + (stored === undefined ? 1 : 0),
    bytes: totals.bytes + bytes,
    seq: totals.seq + 1,
  };
  if (after.steps > MAX_STEPS) return { refused: 'too_many' };
  if (bytes > MAX_STEP_BYTES || after.bytes > MAX_STEPS_BYTES) return { refused: 'too_large' };
  // An answer that was lost is asked for again: the wait has begun with the first one.
  const begun = wait !== null && stored !== undefined && stored.tries === tries ? stored.until : null;
  const until = wait === null ? (stored?.until ?? null) : (begun ?? Math.round('at' in wait ? wait.at : now + wait.ms));
  const startedAt = stored?.startedAt ?? Math.round(now - tookMs);
  const endedAt = wait === null ? now : null;
  return {
    step: { name, kind, seq: after.seq, attempt, tries, startedAt, endedAt, until, result, thrown },
    totals: after,
  };
}
