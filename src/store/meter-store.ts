/** Limits and rates per key. */

import type { Job } from '../core/job.ts';
import type { MeterUse } from '../core/meter.ts';
import type { LimitState, RateState } from '../core/meter-state.ts';

export interface MeterStore {
  /** Returns every key that has a limit set, a running job with a limit, or a job that waits for its limit, by name. */
  limits(signal: AbortSignal): Promise<LimitState[]>;

  /** Sets how many jobs with a key may run, whatever their own limits say; `null`: their own count again. */
  setLimit(key: string, max: number | null, signal: AbortSignal): Promise<LimitState>;

  /** Returns every key of which an attempt started within its window, that is closed, or that a job waits for, by name. */
  rates(signal: AbortSignal): Promise<RateState[]>;

  /** Lets no job with this rate start for this time. If the key is closed for longer already, it stays so. */
  closeRate(key: string, ms: number, signal: AbortSignal): Promise<RateState>;

  /** Returns what is in use of these meters, in order. A claim may change it at any moment. */
  meterUse(names: readonly string[], signal: AbortSignal): Promise<MeterUse[]>;

  /** Returns the ids of running jobs that count against a limit, in order, at most `atMost`. */
  holders(key: string, atMost: number, signal: AbortSignal): Promise<number[]>;

  /**
   * Returns how many of the jobs that wait for a meter come before this one, at most `atMost`. Jobs that no claim has met yet are
   * not counted.
   */
  countAheadAt(meter: string, jobId: number, atMost: number, signal: AbortSignal): Promise<number>;

  /** Returns up to `limit` jobs that a claim has found at a full limit and that do not wait for it (`onLimit: 'skip'`). */
  findSkippable(limit: number, signal: AbortSignal): Promise<Job[]>;
}
