import type { Fence } from '../../../core/fence.ts';
import type { Change } from '../../../core/transition.ts';
import { FLAG } from '../../flags.ts';
import { keyHeldByOther } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { askForItems } from '../graph/groups.ts';
import { type EndedRow, reopen } from '../graph/reopen.ts';
import type { JobRow } from '../reads/job-row.ts';
import { read } from '../reads/reading.ts';
import { end, hold, requeue } from './finish.ts';
import { holderOf } from './unique.ts';

export function applyChanges(context: Context, changes: readonly Change[]): (JobRow | undefined)[] {
  for (const { kind, fence } of changes) if (kind === 'reopen') refuseConflict(context, fence);
  return changes.map((change) => {
    const applied = change.kind === 'reopen' ? changeEnded(context, change) : changeLive(context, change);
    if (!applied) return undefined;
    return read(context, [change.fence.jobId])[0];
  });
}

function changeLive(context: Context, change: Exclude<Change, { kind: 'reopen' }>): boolean {
  const { database, now, effects } = context;
  const { jobId } = change.fence;
  const live = matchingLive(context, change.fence);
  if (live === undefined) return false;
  switch (change.kind) {
    case 'flag':
      database.run(sql.flag, jobId, now, flagsOf(change));
      if (live.flags & FLAG.group) askForItems(context, jobId);
      else if (live.worker_id !== null) effects.changedWorker(live.worker_id);
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

function changeEnded(context: Context, change: Extract<Change, { kind: 'reopen' }>): boolean {
  const ended = matchingEnded(context, change.fence);
  if (ended !== undefined) reopen(context, change, ended);
  return ended !== undefined;
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

function matchingEnded({ database }: Context, fence: Fence): EndedRow | undefined {
  const { failures, interruptions, snoozes, losses } = fence.counters;
  return database.get<EndedRow>(
    sql.guardEnded,
    fence.jobId,
    fence.status,
    fence.attempt,
    fence.cancelRequested ? 1 : 0,
    failures,
    interruptions,
    snoozes,
    losses,
  );
}

/** Checked before anything is written. A reopened job does not take its unique key again, but no other job may hold it. */
function refuseConflict(context: Context, fence: Fence): void {
  if (matchingEnded(context, fence) === undefined) return;
  const { jobId } = fence;
  const key = context.database.get<{ key: string | null }>(sql.keyOfJob, jobId)?.key ?? null;
  if (key === null) return;
  const holder = holderOf(context, key);
  if (holder === undefined || holder.jobId === jobId) return;
  throw keyHeldByOther(jobId, key, holder.jobId);
}
