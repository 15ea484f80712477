import type { EdgeCounters } from '../../../core/dag/edge-counters.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { askForItems } from '../graph/groups.ts';

export interface Freed {
  jobId: number;
  flags: number;
  dueAt: number;
  /** `null`: it has no dependencies. */
  counters: EdgeCounters | null;
}

/** Lets a job wait for its due time only. A group starts, and asks for its items. */
export function free(context: Context, { jobId, flags, dueAt, counters }: Freed): void {
  const { database, now, effects, graphUpdate } = context;
  const isGroup = (flags & FLAG.group) !== 0;
  database.run(
    isGroup ? sql.startGroup : sql.freeJob,
    jobId,
    now,
    counters?.open ?? null,
    counters?.held ?? null,
    counters?.broken ?? null,
    counters?.missed ?? null,
  );
  if (isGroup) askForItems(context, jobId);
  else if (dueAt > now) effects.willBeDue(dueAt);
  else {
    graphUpdate.claimable(jobId);
    effects.madeWork();
  }
  effects.changedJob(jobId);
}
