/** The steps of durable functions. */

import type { Step, StepsPage, StepWrite, StepWritten, UnusedSteps } from '../core/durable.ts';

export interface StepStore {
  /**
   * Writes steps of attempts that this worker still holds. Returns, in order, each as it is stored. One that has ended stays as it
   * is: a write that is sent again is answered as the first one was. A job whose step ends has all its attempts again.
   */
  writeSteps(writes: readonly StepWrite[], signal: AbortSignal): Promise<StepWritten[]>;

  /** Ends the sleeps of these jobs that are over, and returns the first page of steps of each, in order. */
  claimSteps(jobIds: readonly number[], signal: AbortSignal): Promise<StepsPage[]>;

  /** Returns steps of a job after this `seq`, about `STEPS_PAGE_BYTES` of results at most (but at least one, if any). */
  jobSteps(jobId: number, after: number, signal: AbortSignal): Promise<StepsPage>;

  /** Returns what an unfinished job waits for, by `until`. */
  openSteps(jobId: number, signal: AbortSignal): Promise<Step[]>;

  /** Records the names that a function did not ask for before it ended. False if the attempt is no longer this worker's. */
  noteUnused(unused: UnusedSteps, signal: AbortSignal): Promise<boolean>;

  /** Forgets the steps of an ended job that have failed, so that a retry tries them again. Returns their number. */
  forgetFailedSteps(jobIds: readonly number[], signal: AbortSignal): Promise<number>;
}
