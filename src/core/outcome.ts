/** What a worker reports about an attempt. A value, never a throw; the scheduler decides what follows from it. */

/** The size of a result as JSON. */
export const MAX_RESULT_BYTES = 1024 * 1024;

export type Outcome =
  | { type: 'succeeded'; exitCode: number | null; result?: unknown }
  | {
      type: 'failed';
      exitCode: number | null;
      signal: string | null;
      error: string;
      /** Never retry, whatever the budget says. */
      fatal?: boolean;
      /** The job's own wish, instead of the backoff. */
      retryAfterMs?: number;
    }
  | { type: 'timed_out'; exitCode: number | null; signal: string | null; error: string }
  /** Stopped through no fault of its own: drain, lost contact, preemption. */
  | { type: 'interrupted'; error: string }
  | { type: 'snoozed'; delayMs: number }
  /** Stopped because somebody asked, or the job itself did. */
  | { type: 'cancelled'; error: string | null }
  /** Claimed but never started. */
  | { type: 'returned' };

/** A report on one attempt, with the fence that it must still match. */
export interface Settlement {
  jobId: number;
  attempt: number;
  workerId: number;
  /** Of a job that was prefetched: when it started, by the store's clock. Without it, it never has. */
  startedAt?: number;
  outcome: Outcome;
}
