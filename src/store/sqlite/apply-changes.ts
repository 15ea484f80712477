import { WorkronError } from '../../core/error.ts';
import { laneKey, laneOf } from '../../core/lane.ts';
import type { Change, Fence } from '../../core/transition.ts';
import type { Context } from './context.ts';
import { end, requeue } from './finish.ts';
import { decodeSpecRow, type JobRow, type SpecRow } from './job-row.ts';
import { read } from './reading.ts';
import { sql } from './sql.ts';
import { holderOf } from './unique.ts';

export function applyChanges(context: Context, changes: readonly Change[]): (JobRow | undefined)[] {
  for (const { kind, fence } of changes) if (kind === 'reopen') refuseConflict(context, fence);
  return changes.map((change) => {
    const applied = change.kind === 'reopen' ? reopen(context, change) : changeLive(context, change);
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
      database.run(sql.flag, jobId, now);
      if (live.worker_id !== null) effects.changedWorker(live.worker_id);
      effects.changedJob(jobId);
      return true;
    case 'requeue':
      requeue(context, jobId, change);
      return true;
    case 'end':
      end(context, jobId, live.flags, change);
      return true;
  }
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
  );
}

interface EndedRow {
  attempt: number;
  started_at: number | null;
  worker_id: number | null;
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

/** The row that ended the job becomes an attempt like the others, or goes if there was none. */
function reopen(context: Context, { fence, counters }: Extract<Change, { kind: 'reopen' }>): boolean {
  const { database, lanes, now, effects } = context;
  const { jobId, attempt } = fence;
  const ended = matchingEnded(context, fence);
  if (ended === undefined) return false;
  const [stored] = database.tuples<SpecRow>(sql.specOf, jobId);
  if (stored === undefined) return false;
  const spec = decodeSpecRow(stored);

  database.run(ended.attempt === 0 ? sql.dropRun : sql.reopenRun, jobId, ended.attempt);
  database.run(
    sql.reopenLive,
    jobId,
    lanes.idOf(laneKey(laneOf(spec))),
    now,
    attempt,
    counters.failures,
    counters.interruptions,
    counters.snoozes,
    counters.losses,
    ended.worker_id,
    ended.started_at,
    spec.startTimeoutMs === null ? null : now + Math.round(spec.startTimeoutMs),
  );
  effects.madeWork();
  effects.changedJob(jobId);
  return true;
}

/** Before anything is written. A job that waits again does not take its unique key again, but nobody else may have it. */
function refuseConflict(context: Context, fence: Fence): void {
  if (matchingEnded(context, fence) === undefined) return;
  const { jobId } = fence;
  const key = context.database.get<{ key: string | null }>(sql.keyOfJob, jobId)?.key ?? null;
  const holder = key === null ? undefined : holderOf(context, key);
  if (holder === undefined || holder.jobId === jobId) return;
  throw new WorkronError(
    'unique_conflict',
    `Job ${jobId} cannot run again: job ${holder.jobId} holds its unique key ${JSON.stringify(key)}`,
    { jobId: holder.jobId },
  );
}
