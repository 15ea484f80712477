/**
 * Where a worker gets its jobs: in process, attached to the database, or a scheduler over HTTP. One small interface, so
 * that the worker's code is the same for all three.
 */

import type { ClaimedJob } from '../core/job.ts';
import type { Offer } from '../core/lane.ts';
import type { HeartbeatOrders, Report, WorkerHeartbeat } from '../core/lease.ts';
import type { LeaseKeeperPlan } from '../core/lease-keeper.ts';
import type { Settlement } from '../core/outcome.ts';
import type { LogChunk } from '../core/output.ts';

export interface WorkerProfile {
  name: string;
  slots: number;
  queues: readonly string[] | null;
  commands: boolean;
  handlers: readonly string[];
  tags: readonly string[];
  resources: Readonly<Record<string, number>>;
}

export interface Registration {
  workerId: number;
  leaseMs: number;
  heartbeatMs: number;
}

export interface SourceClaim {
  workerId: number;
  limit: number;
  offer: Offer;
  claimSeq: number;
  /** They will wait here before they start: only jobs that may are handed out. */
  prefetch?: boolean;
  /** How long to wait for work before answering with nothing. */
  waitMs: number;
}

export type SettleResult = 'ok' | 'lease_lost' | 'invalid';

export interface JobSource {
  /** How a thread can keep the lease while this one is blocked; absent where the scheduler shares our loop, and waits with us. */
  readonly leaseKeeper?: LeaseKeeperPlan;
  register(profile: WorkerProfile, signal: AbortSignal): Promise<Registration>;
  /** Jobs that are now this worker's, most urgent first; an empty answer after `waitMs` at the latest. */
  claim(request: SourceClaim, signal: AbortSignal): Promise<ClaimedJob[]>;
  /** `undefined`: the scheduler does not know this worker any more; register again. */
  heartbeat(heartbeat: WorkerHeartbeat, signal: AbortSignal): Promise<HeartbeatOrders | undefined>;
  /** In order, one answer each. `lease_lost` is final; a rejected call may be sent again. */
  settle(settlements: readonly Settlement[], signal: AbortSignal): Promise<SettleResult[]>;
  /** In order: whether the attempt is still this worker's. The same offset may be sent again. */
  writeOutput(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;
  /** In order: whether the attempt is still this worker's. Each job at most once. */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;
  /** What the last checkpoint of any attempt was; `null`: none. */
  checkpoint(jobId: number, signal: AbortSignal): Promise<unknown>;
  /** The worker has nothing left and goes. */
  leave(workerId: number, signal: AbortSignal): Promise<void>;
  /** Calls `listener` when a heartbeat should not wait for its turn (a cancel, a drain). */
  onNudge(workerId: number, listener: () => void): () => void;
}
