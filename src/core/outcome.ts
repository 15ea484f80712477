/** The outcome of an attempt, as its worker reports it. It is a value, never thrown; the scheduler decides what follows. */

/** The maximum size of a result as JSON. */
export const MAX_RESULT_BYTES = 1024 * 1024;

/** The error that a handler threw, for programs. The text for people is the outcome's `error`. */
export interface Thrown {
  /** The class of the error, such as `TypeError`. */
  name: string;
  message: string;
  /** The error's own `code`, if it has one. */
  code: string | null;
  /** The details of a `Fatal`: JSON; `null` for none. */
  details: unknown;
  /** Its cause, the cause of that, and so on. */
  causes: ThrownBrief[];
  /** The errors of an `AggregateError`. */
  errors?: ThrownBrief[];
}

export interface ThrownBrief {
  name: string;
  message: string;
  code: string | null;
}

/** What the processes of an attempt have used, as far as the system counted it. */
export interface Usage {
  /** Processor time, in user and system mode. */
  cpuMs: number;
  /** The most memory that one process had at a time; `null` if it is not known. */
  maxRssBytes: number | null;
}

export type Outcome = OutcomeType & { usage?: Usage };

type OutcomeType =
  | { type: 'succeeded'; exitCode: number | null; result?: unknown }
  | {
      type: 'failed';
      exitCode: number | null;
      signal: string | null;
      error: string;
      thrown?: Thrown;
      /** True to fail the job even if it has attempts left. */
      fatal?: boolean;
      /** True if a step failed for good, and its function did not catch that. The job fails, too. */
      step?: boolean;
      /** The handler's own delay, used instead of the backoff. */
      retryAfterMs?: number;
    }
  | { type: 'timed_out'; exitCode: number | null; signal: string | null; error: string }
  /** Ended for a reason outside the job: its worker was stopped or lost contact, or its launcher died. */
  | { type: 'interrupted'; error: string }
  /** `closes`: the rates of the job under which nothing starts during the delay: the key of one, or `all`. */
  | { type: 'snoozed'; delayMs: number; error?: string; closes?: 'all' | { key: string } }
  /** Stopped because a user or the handler itself asked for it. */
  | { type: 'cancelled'; error: string | null }
  /** The function waits for the steps with these names, and gives its slot back until one of them is over. */
  | { type: 'suspended'; awaits: readonly string[] }
  /** Claimed but never started. */
  | { type: 'returned' };

/** A report about one attempt, with the fence that it must still match. */
export interface Settlement {
  jobId: number;
  attempt: number;
  workerId: number;
  /** When a prefetched job started, by the store's clock. Absent if it never started. */
  startedAt?: number;
  outcome: Outcome;
}

/** The store's answer to a settlement: accepted, no longer this worker's, or malformed. */
export const SETTLE_RESULTS = ['ok', 'lease_lost', 'invalid'] as const;
export type SettleResult = (typeof SETTLE_RESULTS)[number];
