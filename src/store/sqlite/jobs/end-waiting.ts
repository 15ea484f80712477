import type { Reason } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface WaitingEnd {
  status: 'skipped' | 'cancelled';
  reason: Reason;
}

/** Ends a waiting job that can no longer run. Its key is free for a later job of the same call. */
export function endWaiting(
  context: Context,
  { jobId, flags }: { jobId: number; flags: number },
  { status, reason }: WaitingEnd,
): void {
  const { database, now, effects, graphUpdate } = context;
  database.run(sql.endWaiting, jobId, now, status, reason, null);
  database.run(sql.endLive, jobId);
  if (flags & FLAG.holdsKey) database.run(sql.freeKeys, JSON.stringify([jobId]));
  effects.changedJob(jobId);
  graphUpdate.ended([{ jobId, flags: flags & ~FLAG.holdsKey, status }]);
}
