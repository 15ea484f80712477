/** The methods of a store that the background duties call. */

import type { Job } from '../core/job.ts';
import type { LaneMark } from '../core/lane.ts';
import type { HeldLease } from '../core/lease.ts';

export interface DutyStore {
  /** Moves up to `limit` due jobs from `scheduled` to `pending`. Returns when the next one will be due. */
  promote(limit: number, signal: AbortSignal): Promise<Promoted>;

  /**
   * Looks at up to `limit` parkings after the one with the id `after`, and opens those of limits with room for a job. The end
   * of a job opens them too, in its own transaction: so there is something to open only if an event was lost.
   */
  healParkings(request: HealRequest, signal: AbortSignal): Promise<Healed>;

  /** Returns up to `limit` jobs that should have started by now (`expiresAt`). Changes nothing. */
  findExpired(limit: number, signal: AbortSignal): Promise<Job[]>;

  /**
   * Returns the leases of all workers that are not offline or hold jobs, and those of jobs that are renewed on their own. The
   * store does not judge them: its clock may have been set since a heartbeat.
   */
  leases(signal: AbortSignal): Promise<HeldLease[]>;

  /**
   * Returns up to `limit` running jobs that are held by one of the leases `silent`, if it was not renewed since, or whose
   * worker is one of `dead` or does not exist, with that worker's last heartbeat.
   */
  findLost(request: LostRequest, signal: AbortSignal): Promise<LostJob[]>;

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
   * Marks the workers with the leases `silent` as offline, if they were not heard since, and returns their ids. Deletes those
   * offline for longer than `forgetAfterMs` that hold nothing.
   */
  retireWorkers(request: RetireRequest, signal: AbortSignal): Promise<number[]>;

  /**
   * Deletes up to `limit` rows of a kind that nothing needs any more, and returns their number. If it is `limit`, there may be more.
   */
  sweep(what: Sweepable, retention: Retention, limit: number, signal: AbortSignal): Promise<number>;

  /** Marks up to `limit` lanes that have no pending jobs, and returns the marks. */
  markLanes(limit: number, signal: AbortSignal): Promise<LaneMark[]>;

  /**
   * Deletes the lanes of these marks that nothing uses and whose mark still stands, and returns their number. May be called
   * `LANE_KNOWN_MS` after the marks were set, when no process inserts jobs by a lane that it has looked up before.
   */
  deleteLanes(marks: readonly LaneMark[], signal: AbortSignal): Promise<number>;

  /**
   * Deletes up to `limit` ended jobs beyond their retention with all their rows, and returns their number. Jobs of one status that cannot
   * be deleted keep no others: the call rejects after it has deleted those.
   */
  prune(retention: Retention, limit: number, signal: AbortSignal): Promise<number>;
}

/** What is swept: each kind by a call of its own, so that one that fails keeps no other from being swept. */
export const SWEEPABLES = ['unique_key', 'idempotency', 'stat', 'metered_start', 'meter', 'gang', 'alarm'] as const;
export type Sweepable = (typeof SWEEPABLES)[number];

export interface Promoted {
  count: number;
  /** `null`: nothing is scheduled. */
  nextDueAt: number | null;
}

export interface HealRequest {
  after: number;
  limit: number;
}

export interface Healed {
  /** The meter of each parking that was opened and that nobody else would have opened. */
  meters: string[];
  /** The last parking that was looked at; `null` if there are no more. */
  next: number | null;
}

export interface GraphWork {
  adopt: boolean;
  cascade: boolean;
  expand: boolean;
}

export interface LostRequest {
  limit: number;
  dead?: readonly number[];
  silent?: readonly HeldLease[];
}

export interface RetireRequest {
  forgetAfterMs: number;
  silent: readonly HeldLease[];
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
