/** Reports of a worker about the attempts that it holds, and their answers. */

import type { Progress } from './job.ts';
import type { Usage } from './outcome.ts';

export interface LeaseRef {
  jobId: number;
  attempt: number;
}

export interface Start extends LeaseRef {
  workerId: number;
  /** The start of the attempt, by the store's clock. */
  startedAt: number;
}

export interface Heartbeat {
  workerId: number;
  /** All attempts that the worker holds. `null` renews whatever it holds, for a worker that does not list them. */
  leases: readonly LeaseRef[] | null;
  /** The highest claim number that was answered or given up; `null` for a worker that does not number its claims. */
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

/** Returns whether a heartbeat lists an attempt. It may list two attempts of one job, of which one is lost. */
export function listedIn(leases: Heartbeat['leases']): (attempt: LeaseRef) => boolean {
  if (leases === null) return () => true;
  const listed = new Set(leases.map(({ jobId, attempt }) => `${jobId}.${attempt}`));
  return ({ jobId, attempt }) => listed.has(`${jobId}.${attempt}`);
}

export interface HeartbeatAnswer {
  /** Attempts that the worker holds and must stop. */
  cancel: LeaseRef[];
  /** Attempts that were listed but are no longer this worker's. */
  lost: LeaseRef[];
  /** True if the worker must finish its jobs and leave. */
  drain: boolean;
  /** Attempts of seen claims that were not listed, and so went back to their queues. */
  returned: LeaseRef[];
}

/** The part of the answer that a worker acts on. */
export type HeartbeatOrders = Omit<HeartbeatAnswer, 'returned'>;

export interface Success {
  jobId: number;
  attempt: number;
  workerId: number;
  exitCode: number | null;
  /** The start of a prefetched job, if it was not reported before. */
  startedAt?: number | undefined;
  /** JSON; absent if there is none. */
  result?: unknown;
  usage?: Usage | undefined;
}

export type Settled =
  | {
      result: 'ok';
      /** False if this repeats an earlier answer. */
      fresh: boolean;
      queue: string;
      dueAt: number;
      startedAt: number;
      endedAt: number;
    }
  | { result: 'lease_lost' };

export interface Report extends LeaseRef {
  workerId: number;
  /** Accepted also if the attempt has ended the job as done: it did so in a transaction, and its handler goes on. */
  completed?: boolean;
  progress: Progress;
}

/** What workers hold their jobs by: the last heartbeat of a worker, or the last one that renewed a job on its own. */
export interface HeldLease {
  workerId: number;
  /** `null` for the lease of the worker, which all jobs share that are not renewed on their own. */
  jobId: number | null;
  /** By the store's clock at that moment, so it identifies the heartbeat, but does not say how long ago it was. */
  heardAt: number;
  leaseMs: number;
}
