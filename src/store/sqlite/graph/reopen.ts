/** A person's retry: an ended job waits again. */

import type { TerminalStatus } from '../../../core/job.ts';
import type { Change } from '../../../core/transition.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { free } from '../jobs/free.ts';
import { revive } from '../jobs/revive.ts';

export interface EndedRow {
  attempt: number;
  started_at: number | null;
  worker_id: number | null;
}

/**
 * The final row becomes an attempt like the others, or is deleted if there was none. The job waits for those of its
 * parents that have not ended; how the others ended no longer matters. A member of a gang has lost its place. The caller has checked the fence.
 */
export function reopen(
  context: Context,
  { fence, counters }: Extract<Change, { kind: 'reopen' }>,
  ended: EndedRow,
): void {
  const { database, now, effects, graphUpdate } = context;
  const { jobId, attempt } = fence;
  database.run(ended.attempt === 0 ? sql.dropRun : sql.reopenRun, jobId, ended.attempt);
  database.run(sql.reopenInEdges, jobId);
  database.run(sql.leavePlaces, JSON.stringify([jobId]));
  const { flags, edges } = revive(context, jobId, {
    status: 'blocked',
    dueAt: now,
    attempt,
    counters,
    workerId: ended.worker_id,
    startedAt: ended.started_at,
  });
  graphUpdate.reopened(context, { jobId, flags, status: fence.status as TerminalStatus });
  if (edges === null || edges.open === 0) free(context, { jobId, flags, dueAt: now, counters: edges });
  effects.changedJob(jobId);
}
