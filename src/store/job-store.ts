/** Jobs on their way through: submitted, claimed, kept, settled, changed. */

import type { ClaimedJob, Job, NewJob } from '../core/job.ts';
import type { JobEdit } from '../core/job-edit.ts';
import type { Offer } from '../core/lane.ts';
import type { Heartbeat, HeartbeatAnswer, Settled, Start, Success } from '../core/lease.ts';
import type { Change } from '../core/transition.ts';

export interface JobStore {
  /**
   * Stores all jobs or none, and answers in order. A job due later starts as `scheduled`, else `pending`.
   * A job whose unique key is taken is not stored: `existing` answers with the holder, `replace` overwrites a holder
   * that still waits and answers with it (it keeps id, `createdAt` and `attempt`; its counters start anew), or with the
   * holder as it is where it no longer waits, `reject` throws `unique_conflict` and stores nothing.
   * With an idempotency key, the first call's answer is stored with its jobs: a later call with the same key and
   * fingerprint stores nothing and is answered the same (`replayed`); another fingerprint throws `idempotency_mismatch`.
   * A concurrent twin waits for the first.
   * A job with dependencies locks its parents before it reads their state, counts those that have ended, and starts as
   * `blocked`, free (as above, due and freed), or is ended `skipped` at once; an unknown parent throws `dependency_unknown`
   * with the ids and stores nothing.
   */
  insert(jobs: readonly NewJob[], options: InsertOptions, signal: AbortSignal): Promise<Inserted>;

  /**
   * Stores jobs that have neither keys nor parents, as `insert` does, while a worker waits for them, and hands out in the
   * same step what `claim` would right after it; or nothing, and then `claim` has to be asked. So nobody is overtaken. A
   * worker that may not claim is given nothing, and the jobs are stored all the same. `items` tells of the jobs as they were
   * stored, before any was handed out.
   */
  insertAndClaim(jobs: readonly NewJob[], request: ClaimRequest, signal: AbortSignal): Promise<InsertedAndClaimed>;

  /**
   * Moves up to `limit` claimable jobs that the offer can run to `running`, counts the attempt, and returns them, most
   * urgent first (priority, fair turn, due, id). No job is ever handed to two claimers. Takes nothing from paused
   * queues, no more than `max_running` of a queue allows, no more than the offer's free resources hold.
   * Each comes with its runContext: parameters, item, parents' ends. A workflow whose step is claimed has started.
   * Lets go of unique keys held only `while: 'pending'`. Unknown or offline worker: throws `worker_not_found`.
   */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]>;

  /**
   * Notes when jobs that were prefetched have started, where they are still at this attempt of this worker. Until then
   * (or until a settle says so) they count as not started: one whose worker is lost goes back uncharged.
   */
  start(starts: readonly Start[], signal: AbortSignal): Promise<void>;

  /**
   * Renews a worker's lease on all it holds, and gives back at once what it was handed by a claim up to `seenClaim` but
   * does not list (recorded as `returned`, not charged; `cancelled` if that was asked). `undefined`: no such worker, it
   * must register again. An offline worker that reports is online again.
   */
  heartbeat(beat: Heartbeat, signal: AbortSignal): Promise<HeartbeatAnswer | undefined>;

  /**
   * The fast path: ends each job that is still at this attempt of this worker as `done`; answers in order.
   * A job already ended `done` by this very attempt answers `ok` again; anything else is `lease_lost`.
   * Whatever ends a job, here or in `applyChanges`, judges its direct children, its group and its workflow in the same
   * transaction, by counters; what a child's end means further down is left to `cascade`.
   */
  settle(successes: readonly Success[], signal: AbortSignal): Promise<Settled[]>;

  /**
   * Writes each change whose job still matches its fence; answers, in order, with the job as written, or `undefined`.
   * Each job at most once in a call.
   * Where another job holds the unique key of one to be reopened, throws `unique_conflict` and writes none.
   * A reopened job waits for those of its parents that have not ended; its own out-edges are open again: children that
   * never started (skipped ones too) are judged anew from all their edges, those that started are left alone. A reopened
   * item reopens its group, a reopened step its workflow.
   */
  applyChanges(changes: readonly Change[], signal: AbortSignal): Promise<(Job | undefined)[]>;

  /** Changes a job that waits; a new `runAt` (never before `createdAt`) decides anew between `scheduled` and `pending`. `undefined`: no such job, or it does not wait. */
  edit(jobId: number, edit: JobEdit, signal: AbortSignal): Promise<Job | undefined>;
}

/** How long an idempotency key is remembered. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

export interface InsertOptions {
  idempotency?: { key: string; fingerprint: string };
}

export interface Inserted {
  /** In the order of the call. `deduplicated`: this job was there before. */
  items: { job: Job; deduplicated: boolean }[];
  replayed: boolean;
}

export interface InsertedAndClaimed {
  items: Inserted['items'];
  /** Most urgent first. */
  claimed: ClaimedJob[];
}

export interface ClaimRequest {
  workerId: number;
  limit: number;
  offer: Offer;
  /** Rising per worker; `null` for a worker that does not count its claims: then only the lease decides. */
  claimSeq: number | null;
  /**
   * They will wait at the worker before they start, so only what may is taken, from the most urgent job on up to the first
   * that may not: handlers without resources, `rerun: safe`, not failed yet nor on the last attempt, in queues without a limit.
   */
  prefetch?: boolean;
}
