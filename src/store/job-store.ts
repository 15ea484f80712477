/** The life of a job: submitted, claimed, kept by heartbeats, settled, changed. */

import type { ClaimedJob, Job, NewJob } from '../core/job.ts';
import type { JobEdit } from '../core/job-edit.ts';
import type { Offer } from '../core/lane.ts';
import type { Heartbeat, HeartbeatAnswer, Settled, Start, Success } from '../core/lease.ts';
import type { Change } from '../core/transition.ts';

export interface JobStore {
  /**
   * Stores all jobs or none and returns them in order. A job that is due later starts as `scheduled`, else as `pending`.
   *
   * A job whose unique key is held is not stored. `existing` returns the holder. `replace` overwrites a waiting holder and
   * returns it (it keeps id, `createdAt` and `attempt`; its counters are reset), or returns a holder that does not wait as
   * it is. `reject` throws `unique_conflict` and stores nothing.
   *
   * With an idempotency key, the first call's answer is stored with its jobs. A later call with the same key and
   * fingerprint stores nothing and returns the same (`replayed`); another fingerprint throws `idempotency_mismatch`.
   * A concurrent call with the same key waits for the first.
   *
   * A job with dependencies locks its parents, reads their state, and starts as `blocked`, as `scheduled` or `pending` if
   * all of them have ended as required, or is `skipped` at once. An unknown parent throws `dependency_unknown` with the
   * ids and stores nothing.
   */
  insert(jobs: readonly NewJob[], options: JobInsertOptions, signal: AbortSignal): Promise<Inserted>;

  /**
   * Stores jobs without keys and parents as `insert` does, and claims for a waiting worker what `claim` would right after
   * it, in one step. It may claim nothing; then `claim` has to be called. No job overtakes a more urgent one. For a worker
   * that may not claim, the jobs are stored and nothing is claimed. `items` has the jobs as they were before the claim.
   */
  insertAndClaim(jobs: readonly NewJob[], request: ClaimRequest, signal: AbortSignal): Promise<InsertedAndClaimed>;

  /**
   * Moves up to `limit` claimable jobs that the offer can run to `running`, counts the attempt, and returns them, most
   * urgent first (priority, fair turn, due, id). No job is ever claimed twice. Takes nothing from paused queues, no more
   * than a queue's `max_running` allows, and no more than the offer's free resources hold.
   * Each job has its run context: workflow params, item, parents' results. A workflow whose step is claimed has started.
   * Releases unique keys held `while: 'pending'`. Throws `worker_not_found` if the worker is unknown or offline.
   */
  claim(request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]>;

  /**
   * Records when prefetched jobs have started, if this attempt still belongs to this worker. Until then (or until `settle`
   * reports it) they count as not started: if the worker is lost, the attempt is not charged.
   */
  start(starts: readonly Start[], signal: AbortSignal): Promise<void>;

  /**
   * Renews a worker's lease on all jobs it holds. Jobs that it got by a claim up to `seenClaim` but does not list are given
   * back at once (recorded as `returned`, not charged; `cancelled` if that was requested). Returns `undefined` if there is
   * no such worker: it must register again. An offline worker that reports is online again.
   */
  heartbeat(beat: Heartbeat, signal: AbortSignal): Promise<HeartbeatAnswer | undefined>;

  /**
   * The fast path: ends each job as `done` if this attempt still belongs to this worker. Returns the results in order.
   * A job that this very attempt has already ended as `done` returns `ok` again; anything else is `lease_lost`.
   * The end of a job, here or in `applyChanges`, judges its direct children, its group and its workflow in the same
   * transaction, by counters. What the end of a child means further down is left to `cascade`.
   */
  settle(successes: readonly Success[], signal: AbortSignal): Promise<Settled[]>;

  /**
   * Writes each change whose job still matches its fence. Returns, in order, the job as written, or `undefined`.
   * A call may have one change per job.
   * Throws `unique_conflict` and writes nothing if another job holds the unique key of a job to be reopened.
   * A reopened job waits for its parents that have not ended. Its own out-edges are open again: children that never
   * started (skipped ones too) are judged again from all their edges, children that started stay as they are. A reopened
   * item reopens its group, a reopened step its workflow.
   */
  applyChanges(changes: readonly Change[], signal: AbortSignal): Promise<(Job | undefined)[]>;

  /**
   * Changes a waiting job. A new `runAt` (never before `createdAt`) makes it `scheduled` or `pending`. Returns `undefined` if
   * there is no such job, or if it does not wait.
   */
  edit(jobId: number, edit: JobEdit, signal: AbortSignal): Promise<Job | undefined>;

  /**
   * Deletes ended jobs with all their rows, and returns the ids of those that it deleted, in no order. Jobs stay that have not ended,
   * are steps or members of gangs, have an unfinished job that depends on them, or whose notifications are not written yet.
   */
  deleteJobs(jobIds: readonly number[], signal: AbortSignal): Promise<number[]>;
}

/** How long an idempotency key is kept. */
export const IDEMPOTENCY_MS = 24 * 3_600_000;

export interface InsertOptions {
  idempotency?: { key: string; fingerprint: string };
}

export interface JobInsertOptions extends InsertOptions {
  /** The job that the new jobs repeat. */
  rerunOf?: number;
}

export interface Inserted {
  /** The jobs in the order of the call. `deduplicated`: the job existed before. */
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
  /** Rises with each claim of a worker; `null` for a worker that does not count its claims: then only the lease decides. */
  claimSeq: number | null;
  /**
   * Prefetches: the worker starts the jobs later. Takes jobs from the most urgent one up to the first that must not be
   * prefetched. A job may be prefetched if it has a handler, no resources, `rerun: safe`, no failure yet and more than one attempt
   * left, and if its queue has no limit.
   */
  prefetch?: boolean;
}
