/** The bits of `live.flags`, the same in both SQL stores. Functions in migrations spell them as numbers. */

import { needsAll } from '../core/gang.ts';
import type { JobSpec, TerminalStatus } from '../core/job.ts';
import { type Notify, watchOf } from '../core/notify.ts';

export const FLAG = {
  hasChildren: 1,
  /** The job is a group: it is never claimed, its items are. */
  group: 2,
  inWorkflow: 4,
  /** The job holds a unique key that its claim or its end releases. */
  holdsKey: 8,
  hasParents: 16,
  item: 32,
  /** The job was asked to stop; its children are not cancelled with it. */
  keepChildren: 64,
  /** A notification is wanted if the job fails. */
  notifiesFailure: 128,
  /** A notification is wanted if the job is done. */
  notifiesSuccess: 256,
  /** The job must not be prefetched. PostgreSQL only; SQLite reads the job's spec. */
  neverPrefetched: 512,
  /** An application's transaction inserted the job, and it has not been judged since. */
  unjudged: 1024,
  /** The job has no start timeout, so freeing it need not read its spec. */
  hasNoStartTimeout: 2048,
  /** The job has limits: the end of an attempt lets others start. */
  hasLimits: 4096,
  /** The job is a member of a gang: it is done only when all members have succeeded. */
  member: 8192,
  /** The job was asked to stop with its gang, which will start again. */
  gangStop: 16_384,
  /** A notification is wanted if the job is cancelled. */
  notifiesCancel: 32_768,
  /** The job came back from a lost worker that had not reported its start. It is not prefetched, and is claimed alone. */
  suspect: 65_536,
  /** The job has steps: it has started, and only a worker that knows of steps may continue it. */
  hasSteps: 131_072,
  /** The last attempt was suspended: the job waits for its function's waits if it is scheduled. */
  suspended: 262_144,
} as const;

/** The end of a job with one of these changes rows of other jobs. Without, its end is one statement. */
export const LINKED =
  FLAG.hasChildren | FLAG.group | FLAG.inWorkflow | FLAG.item | FLAG.notifiesSuccess | FLAG.hasLimits;

/** A job with one of these is claimed with its run context. */
export const HAS_RUN_CONTEXT = FLAG.inWorkflow | FLAG.hasParents | FLAG.item;

/** True for a step of a workflow, false for the items of a step. */
export function isStep(flags: number): boolean {
  return (flags & FLAG.inWorkflow) !== 0 && (flags & FLAG.item) === 0;
}

/** The bits that follow from a job's notification targets, limits and gang. */
export function specFlags({ notify, limits, gang }: Pick<JobSpec, 'notify' | 'limits' | 'gang'>): number {
  return watchFlags(notify) | (limits.length > 0 ? FLAG.hasLimits : 0) | (needsAll({ gang }) ? FLAG.member : 0);
}

function watchFlags(notify: readonly Notify[]): number {
  if (notify.length === 0) return 0;
  const { failures, successes, cancels } = watchOf(notify);
  return (
    (failures ? FLAG.notifiesFailure : 0) | (successes ? FLAG.notifiesSuccess : 0) | (cancels ? FLAG.notifiesCancel : 0)
  );
}

/** The bit that asks for a notice of this end; 0 if none does. */
export function noticeFlag(status: TerminalStatus): number {
  return { done: FLAG.notifiesSuccess, failed: FLAG.notifiesFailure, cancelled: FLAG.notifiesCancel, skipped: 0 }[
    status
  ];
}
