/** What a worker says about the attempts that it holds, and what it is answered. */

import type { Progress } from './job.ts';

export interface LeaseRef {
  jobId: number;
  attempt: number;
}

export interface Start extends LeaseRef {
  workerId: number;
  /** By the store's clock. */
  startedAt: number;
}

export interface Heartbeat {
  workerId: number;
  /** All that it holds. `null`: renew whatever it holds (a worker that does not list). */
  leases: readonly LeaseRef[] | null;
  /** The highest claim that was answered or finally given up; `null` for a worker that does not count. */
  seenClaim: number | null;
}

/** A heartbeat as a scheduler receives it. */
export interface HeartbeatRequest extends Heartbeat {
  /** Prefetched jobs that have started since the last heartbeat, and when by the store's clock. */
  started?: readonly (LeaseRef & { startedAt: number })[];
}

/** A heartbeat as our own workers send it: they list what they hold and count their claims. */
export interface WorkerHeartbeat extends HeartbeatRequest {
  leases: readonly LeaseRef[];
  seenClaim: number;
}

export interface HeartbeatAnswer {
  /** Held, but somebody asked for it to stop. */
  cancel: LeaseRef[];
  /** Listed, but no longer this worker's. */
  lost: LeaseRef[];
  /** Finish what you have and leave. */
  drain: boolean;
  /** What the give-back returned, for those who watch. */
  returned: LeaseRef[];
}

/** The part of the answer that a worker acts on. */
export type HeartbeatOrders = Omit<HeartbeatAnswer, 'returned'>;

export interface Success {
  jobId: number;
  attempt: number;
  workerId: number;
  exitCode: number | null;
  /** Of a job that was prefetched, if nobody has told before. */
  startedAt?: number;
  /** JSON; absent where there is none. */
  result?: unknown;
}

export type Settled =
  | {
      result: 'ok' /** `false` where this repeats an earlier answer. */;
      fresh: boolean;
      queue: string;
      dueAt: number;
      startedAt: number;
      endedAt: number;
    }
  | { result: 'lease_lost' };

export interface Report extends LeaseRef {
  workerId: number;
  progress?: Progress;
  /** JSON. */
  checkpoint?: unknown;
}
