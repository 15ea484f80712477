/**
 * Where a worker gets its jobs: in process, attached to the database, or from a scheduler over HTTP. The worker's code
 * is the same for all three.
 */

import type { CheckpointContent, NewCheckpoint } from '../core/checkpoint.ts';
import type { StepsPage, StepWrite, StepWritten, UnusedSteps } from '../core/durable.ts';
import type { ClaimedJob } from '../core/job.ts';
import type { Offer } from '../core/lane.ts';
import type { HeartbeatOrders, LeaseRef, Report, WorkerHeartbeat } from '../core/lease.ts';
import type { LeaseKeeperPlan } from '../core/lease-keeper.ts';
import type { Settlement, SettleResult } from '../core/outcome.ts';
import type { LogChunk } from '../core/output.ts';
import type { GoneMessage } from './launcher/frames.ts';

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
  /** Claims only jobs that may be prefetched: they wait at the worker until a slot is free. */
  prefetch?: boolean;
  /** The time to wait for jobs before the answer is an empty list. */
  waitMs: number;
}

export interface JobSource {
  /** How a thread can keep the lease while this one is blocked. Absent if the scheduler runs in the same event loop. */
  readonly leaseKeeper?: LeaseKeeperPlan;
  register(profile: WorkerProfile, signal: AbortSignal): Promise<Registration>;
  /** Returns jobs that are leased to this worker, most urgent first; an empty list after `waitMs`. */
  claim(request: SourceClaim, signal: AbortSignal): Promise<ClaimedJob[]>;
  /** Makes the claim with this number answer at once, with the jobs that it has or none. May come before the claim does. */
  endWait(workerId: number, claimSeq: number, signal: AbortSignal): Promise<void>;
  /** `undefined`: the scheduler does not know this worker any more, which must register again. */
  heartbeat(heartbeat: WorkerHeartbeat, signal: AbortSignal): Promise<HeartbeatOrders | undefined>;
  /** Answers in order. `lease_lost` is final; a rejected call may be sent again. */
  settle(settlements: readonly Settlement[], signal: AbortSignal): Promise<SettleResult[]>;
  /** In order: whether the attempt is still this worker's. The same offset may be sent again. */
  writeOutput(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]>;
  /** In order: whether the attempt is still this worker's. Each job at most once. */
  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]>;
  /** False if the attempt is no longer this worker's. A call that broke off has changed nothing and may be made again. */
  writeCheckpoint(checkpoint: NewCheckpoint, signal: AbortSignal): Promise<boolean>;
  /** The last complete checkpoint of any attempt; `null`: none. */
  checkpoint(jobId: number, signal: AbortSignal): Promise<CheckpointContent | null>;
  /** In order: each step as it is stored, or why it cannot be. A write may be sent again. */
  writeSteps(writes: readonly StepWrite[], signal: AbortSignal): Promise<StepWritten[]>;
  /** More steps than the claim has brought. */
  readSteps(request: LeaseRef & { workerId: number; after: number }, signal: AbortSignal): Promise<StepsPage>;
  /** Tells which names the function did not ask for. */
  noteUnused(unused: UnusedSteps, signal: AbortSignal): Promise<boolean>;
  /** Deregisters the worker, which holds no jobs any more. */
  leave(workerId: number, signal: AbortSignal): Promise<void>;
  /** What a launcher reports when the process of this worker has ended. Absent if the source finds out by itself. */
  gone?(workerId: number): GoneMessage;
  /** Calls `listener` when the next heartbeat should be sent at once, because of a cancel or a drain. */
  onNudge(workerId: number, listener: () => void): () => void;
}
