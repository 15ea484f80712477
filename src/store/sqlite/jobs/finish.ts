/** The two ways in which an attempt comes to its end: the job waits again, or is over. The caller has checked the fence. */

import type { Counters } from '../../../core/job.ts';
import type { AttemptEnd, Change } from '../../../core/transition.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export interface Requeue {
  counters: Counters;
  delayMs: number;
  record: AttemptEnd;
}

/** Back to wait, in its old place where there is no delay; where keys take turns, behind what its key has waiting. */
export function requeue(context: Context, jobId: number, { counters, delayMs, record }: Requeue): void {
  const { database, now, effects, aftermath } = context;
  const { failures, interruptions, snoozes, losses } = counters;
  database.run(sql.recordAttempt, jobId, now, record.outcome, record.exitCode, record.signal, record.error);
  const dueAt = delayMs === 0 ? null : now + Math.round(delayMs);
  database.run(
    sql.requeue,
    jobId,
    dueAt === null ? 'pending' : 'scheduled',
    dueAt,
    failures,
    interruptions,
    snoozes,
    losses,
    record.outcome === 'returned' ? 1 : 0,
  );
  if (dueAt !== null) effects.willBeDue(dueAt);
  else {
    aftermath.claimable(jobId);
    effects.madeWork();
  }
  effects.changedJob(jobId);
}

export type End = Omit<Extract<Change, { kind: 'end' }>, 'kind' | 'fence'>;

export function end(context: Context, jobId: number, liveFlags: number, wanted: End): void {
  const { database, now, effects, aftermath } = context;
  const { counters, status, reason, record, error, keepDependents } = wanted;
  const flags = liveFlags | (keepDependents ? FLAG.keepDependents : 0);
  database.run(
    sql.endRun,
    jobId,
    now,
    status,
    reason,
    record?.outcome ?? status,
    record?.exitCode ?? null,
    record?.signal ?? null,
    error,
    counters.failures,
    counters.interruptions,
    counters.snoozes,
    counters.losses,
    record === null ? 0 : 1,
  );
  database.run(sql.endLive, jobId);
  if (flags & FLAG.holdsKey) database.run(sql.freeKeys, JSON.stringify([jobId]));
  effects.madeWork();
  effects.changedJob(jobId);
  aftermath.ended(context, [{ jobId, flags, status }]);
}
