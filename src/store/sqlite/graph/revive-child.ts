import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import type { Counters, TerminalStatus } from '../../../core/job.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { free } from '../jobs/free.ts';
import { revive } from '../jobs/revive.ts';

interface FinalRow extends Counters {
  status: TerminalStatus;
  due: number;
}

/** A job that ended without having started waits for its parents again, or is free. */
export function reviveChild(context: Context, jobId: number, counters: EdgeCounters, fate: 'wait' | 'free'): void {
  const { database, effects, graphUpdate } = context;
  const final = database.get<FinalRow>(sql.finalRun, jobId);
  if (final === undefined) return;
  database.run(sql.dropRun, jobId, 0);
  const again = { status: 'blocked', dueAt: final.due, attempt: 0, workerId: null, startedAt: null } as const;
  const flags = revive(context, jobId, { ...again, counters: final });
  graphUpdate.reopenedByCascade(context, { jobId, flags, status: final.status });
  if (fate === 'free') free(context, { jobId, flags, dueAt: final.due, counters });
  effects.changedJob(jobId);
}
