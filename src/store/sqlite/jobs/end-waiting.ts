import type { Reason } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

export interface WaitingEnd {
  status: 'skipped' | 'cancelled';
  reason: Reason;
}

/** The end of a job that waited in vain. Its children hear of it by the cascade. */
export function endWaiting(
  context: Context,
  { jobId, flags }: { jobId: number; flags: number },
  { status, reason }: WaitingEnd,
): void {
  const { database, now, effects, aftermath } = context;
  database.run(sql.endWaiting, jobId, now, status, reason, null);
  database.run(sql.endLive, jobId);
  if (flags & FLAG.holdsKey) database.run(sql.freeKeys, JSON.stringify([jobId]));
  effects.changedJob(jobId);
  aftermath.endedBelow(context, { jobId, flags, status });
}
