/** Unique keys: what happens to a job whose key another one holds. */

import type { NewJob } from './job.ts';

export const UNIQUE_CONFLICTS = ['existing', 'replace', 'reject', 'supersede', 'after'] as const;

/** Allows one unfinished job per key, for the time that `while` gives. */
export interface Unique {
  key: string;
  /** Until the first claim, until the end, or for this many milliseconds from submission. */
  while: 'pending' | 'active' | number;
  onConflict: (typeof UNIQUE_CONFLICTS)[number];
  /** The running job that held the key before: it waits for that one to end. Set by the store. */
  after?: number;
  /** A job that is replaced is due at the latest this long after it was first submitted. */
  maxWaitMs?: number;
  /** The queues whose jobs it may replace, stop or follow; absent: all. Set for a caller that is restricted to queues. */
  within?: readonly string[];
}

/** True if the job would replace, stop or follow the holder of its key, and may not, because that is in another queue. */
export function isForeign(unique: Unique, holderQueue: string): boolean {
  return unique.within !== undefined && replacesWaiting(unique) && !unique.within.includes(holderQueue);
}

/** When a job is due that replaces a waiting one, which was submitted at `createdAt` and keeps its id. */
export function dueOfReplaced(
  unique: Unique | null,
  { dueAt, createdAt, now }: Record<'dueAt' | 'createdAt' | 'now', number>,
) {
  return unique?.maxWaitMs === undefined ? dueAt : Math.max(now, Math.min(dueAt, createdAt + unique.maxWaitMs));
}

/** True if the job takes the place of one that waits. */
export function replacesWaiting(unique: Unique | null): boolean {
  return unique !== null && unique.onConflict !== 'existing' && unique.onConflict !== 'reject';
}

/** True if the job waits for the end of one that runs, and takes its key. */
export function followsRunning(unique: Unique | null): boolean {
  return unique?.onConflict === 'supersede' || unique?.onConflict === 'after';
}

/** Returns the job with a dependency on the end of job `after`; unchanged if that is `null`. */
export function following<Job extends Pick<NewJob, 'unique' | 'dependsOn'>>(job: Job, after: number | null): Job {
  if (after === null || job.unique === null) return job;
  const unique = { ...job.unique, after };
  if (job.dependsOn.some(({ jobId }) => jobId === after)) return { ...job, unique };
  return { ...job, unique, dependsOn: [...job.dependsOn, { jobId: after, condition: 'ended' as const }] };
}
