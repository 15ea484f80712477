/** What the background duties need of a store. */

import type { Job } from '../core/job.ts';

export interface DutyStore {
  /** Moves up to `limit` due jobs from `scheduled` to `pending`; tells when the next one will be due. */
  promote(limit: number, signal: AbortSignal): Promise<Promoted>;

  /** Up to `limit` jobs that should have started by now (`expiresAt`), as they are. */
  findExpired(limit: number, signal: AbortSignal): Promise<Job[]>;

  /** Up to `limit` running jobs whose worker's lease is over, or whose worker is one of `dead`; each with when that worker was last heard. */
  findLost(request: { limit: number; dead: readonly number[] }, signal: AbortSignal): Promise<LostJob[]>;

  /** Workers attached to the database whose session lock is free: a hint that their process died. Empty where there are no such locks. */
  findUnlocked(signal: AbortSignal): Promise<Unlocked>;

  /** For which of `adopt`, `cascade` and `expand` there is something to do. Asked all the time, and cheap. */
  graphWork(signal: AbortSignal): Promise<GraphWork>;

  /**
   * Carries ends and reopenings of jobs further down, for up to `limit` jobs; answers with how many it carried. Safe to
   * stop anywhere and to run twice at once. Nothing to do: 0.
   */
  cascade(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Gives up to `limit` items to groups that are free and have not all of theirs (each index exactly once, no more than
   * `maxParallel` unfinished at a time), and ends groups that can have none; answers with how many jobs it inserted or
   * ended. Safe to stop anywhere and to run twice at once. Nothing to do: 0.
   */
  expand(limit: number, signal: AbortSignal): Promise<number>;

  /**
   * Judges up to `limit` jobs that applications submitted in transactions of their own, and carries on the ends that such
   * transactions wrote; answers with how many. Safe to stop anywhere and to run twice at once. Nothing to do: 0.
   */
  adopt(limit: number, signal: AbortSignal): Promise<number>;

  /** Marks workers whose lease is over as offline; forgets those offline for longer than `forgetAfterMs` that hold nothing. Answers with the ids marked. */
  retireWorkers(forgetAfterMs: number, signal: AbortSignal): Promise<number[]>;

  /** Deletes up to `limit` ended jobs older than the retention says, with all that belongs to them. Answers with how many. Also expired keys and old statistics. */
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
  /** How long the database server has been up; a restart frees every lock without anybody having died. */
  serverUpMs: number;
}

export interface Retention {
  doneMs: number;
  /** failed, cancelled, skipped. */
  otherMs: number;
  statsMs: number;
}
