/** The methods of a store that the background duties call. */

import type { Job } from '../core/job.ts';
import type { Watched } from '../core/lease.ts';

export interface DutyStore {
  /** Moves up to `limit` due jobs from `scheduled` to `pending`. Returns when the next one will be due. */
  promote(limit: number, signal: AbortSignal): Promise<Promoted>;

  /** Returns up to `limit` jobs that should have started by now (`expiresAt`). Changes nothing. */
  findExpired(limit: number, signal: AbortSignal): Promise<Job[]>;

  /**
   * Returns up to `limit` running jobs whose worker's lease is over (`isLeaseOver`) or whose worker is one of `dead`, with
   * that worker's last heartbeat. Without `watched`, the clock of the store is trusted.
   */
  findLost(
    request: { limit: number; dead: readonly number[]; watched?: Watched },
    signal: AbortSignal,
  ): Promise<LostJob[]>;

  /**
   * Returns workers attached to the database whose session lock is free, a hint that their process died. Empty on stores
   * without such locks.
   */
  findUnlocked(signal: AbortSignal): Promise<Unlocked>;

  /** Returns which of `adopt`, `cascade` and `expand` have something to do. Called all the time, so it is cheap. */
  graphWork(signal: AbortSignal): Promise<GraphWork>;

  /**
   * Propagates ends and reopenings of up to `limit` jobs to their dependents. Returns the number of jobs, 0 if there was
   * nothing to do. Safe to stop anywhere and to run twice at once.
   */
  cascade(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Inserts up to `limit` items of groups that are free and lack some (each index exactly once, at most `maxParallel`
   * unfinished at a time), and ends groups that can have none. Returns the number of jobs that it inserted or ended, 0 if
   * there was nothing to do. Safe to stop anywhere and to run twice at once.
   */
  expand(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Judges up to `limit` jobs that applications' transactions inserted, and propagates the ends that such transactions
   * wrote. Returns the number of jobs, 0 if there was nothing to do. Safe to stop anywhere and to run twice at once.
   */
  adopt(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Marks workers whose lease is over (`isLeaseOver`) as offline and returns their ids. Deletes those offline for longer
   * than `forgetAfterMs` that hold nothing.
   */
  retireWorkers(request: { forgetAfterMs: number; watched?: Watched }, signal: AbortSignal): Promise<number[]>;

  /**
   * Deletes up to `limit` ended jobs beyond their retention with all their rows, and returns their number. Also deletes
   * expired keys and old statistics.
   */
  prune(retention: Retention, limit: number, signal: AbortSignal): Promise<number>;
}

export interface Promoted {
  count: number;
  /** `null`: nothing is scheduled. */
  nextDueAt: number | null;
}

export interface GraphWork {
  adopt: boolean;
  cascade: boolean;
  expand: boolean;
}

export interface LostJob {
  job: Job;
  workerSeenAt: number;
}

export interface Unlocked {
  workers: { id: number; seenAt: number }[];
  /** When the database server was started, by its clock of that time: a restart frees every lock although no process died. */
  serverStartedAt: number;
}

export interface Retention {
  doneMs: number;
  /** failed, cancelled, skipped. */
  otherMs: number;
  statsMs: number;
}
