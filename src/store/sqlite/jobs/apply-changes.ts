import type { Fence } from '../../../core/fence.ts';
import type { Change } from '../../../core/transition.ts';
import { reopen } from '../../engine/graph/reopen.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import type { JobRow } from '../reads/job-row.ts';
import { read } from '../reads/reading.ts';
import { end, hold, requeue } from './finish.ts';

export async function applyChanges(context: Context, asked: readonly Change[]): Promise<(JobRow | undefined)[]> {
  // The state that a second change of a job expects is no longer there after the first.
  const changes = [...Map.groupBy(asked, ({ fence }) => fence.jobId).values()].map(([first]) => first as Change);
  const applied = new Set<number>();
  for (const change of changes) {
    if (change.kind !== 'reopen' && changeLive(context, change)) applied.add(change.fence.jobId);
  }
  const reopened = await reopen(
    txOn(context),
    changes.filter((change) => change.kind === 'reopen'),
  );
  // A member of a gang that is retried has lost its place.
  if (reopened.length > 0) context.database.run(sql.leavePlaces, JSON.stringify(reopened));
  for (const jobId of reopened) applied.add(jobId);
  const written = new Set(changes.filter(({ fence }) => applied.has(fence.jobId)));
  return asked.map((change) => (written.delete(change) ? read(context, [change.fence.jobId])[0] : undefined));
}

function changeLive(context: Context, change: Exclude<Change, { kind: 'reopen' }>): boolean {
  const { database, now, effects } = context;
  const { jobId } = change.fence;
  const live = matchingLive(context, change.fence);
  if (live === undefined) return false;
  switch (change.kind) {
    case 'flag':
      database.run(sql.flag, jobId, now, flagsOf(change));
      if (live.flags & FLAG.group) {
        database.run(sql.setNeedsItems, jobId);
        effects.changedGraph();
      } else if (live.worker_id !== null) effects.changedWorker(live.worker_id);
      effects.changedJob(jobId);
      return true;
    case 'hold':
      hold(context, jobId, change.success);
      return true;
    case 'requeue':
      requeue(context, jobId, change);
      return true;
    case 'end':
      end(context, jobId, live.flags, change);
      return true;
  }
}

function flagsOf({ keepChildren, gangStop }: Extract<Change, { kind: 'flag' }>): number {
  return (keepChildren ? FLAG.keepChildren : 0) | (gangStop ? FLAG.gangStop : 0);
}

function matchingLive({ database }: Context, fence: Fence): { worker_id: number | null; flags: number } | undefined {
  const { failures, interruptions, snoozes, losses } = fence.counters;
  return database.get(
    sql.guardLive,
    fence.jobId,
    fence.status,
    fence.attempt,
    fence.workerId,
    fence.cancelRequested ? 1 : 0,
    failures,
    interruptions,
    snoozes,
    losses,
    fence.workerSeenAt ?? null,
    fence.gangStop ? 1 : 0,
  );
}
