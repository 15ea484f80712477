import type { AttemptEnd } from '../../../core/attempt-end.ts';
import type { Counters } from '../../../core/job.ts';
import { type Heartbeat, type HeartbeatAnswer, type LeaseRef, listedIn } from '../../../core/lease.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import type { WorkerState } from './claim.ts';
import { end, requeue } from './finish.ts';

interface HeldRow extends Counters {
  job_id: number;
  attempt: number;
  claim_seq: number | null;
  renewed_at: number | null;
  cancel_requested_at: number | null;
  flags: number;
}

export function heartbeat(context: Context, beat: Heartbeat): HeartbeatAnswer | undefined {
  const { database, now, effects } = context;
  const { workerId, leases, seenClaim } = beat;
  const before = database.get<WorkerState>(sql.workerState, workerId, now);
  // It may claim again: its waiting claim has found nothing.
  if (before?.silent || before?.state === 'offline') effects.madeRoom();
  const worker = database.all<{ draining: number }>(sql.renewWorker, workerId, now)[0];
  if (worker === undefined) return undefined;

  const lists = listedIn(leases);
  const kept = new Map<number, HeldRow>();
  const renewed: number[] = [];
  const returned: LeaseRef[] = [];
  for (const row of database.all<HeldRow>(sql.heldBy, workerId)) {
    const isListed = lists(refTo(row));
    if (!isListed && row.claim_seq !== null && seenClaim !== null && row.claim_seq <= seenClaim) {
      returned.push(refTo(row));
      giveBack(context, row);
      continue;
    }
    kept.set(row.job_id, row);
    if (isListed && row.renewed_at !== null) renewed.push(row.job_id);
  }
  if (renewed.length > 0) database.run(sql.renewLeases, JSON.stringify(renewed), now);
  return {
    cancel: [...kept.values()].filter((row) => row.cancel_requested_at !== null).map(refTo),
    lost: (leases ?? [])
      .filter(({ jobId, attempt }) => kept.get(jobId)?.attempt !== attempt)
      .map(({ jobId, attempt }) => ({ jobId, attempt })),
    drain: worker.draining === 1,
    returned,
  };
}

/** Returns a job that the worker never received to its queue. */
function giveBack(context: Context, row: HeldRow): void {
  const record: AttemptEnd = { outcome: 'returned', exitCode: null, signal: null, error: null };
  if (row.cancel_requested_at === null || row.flags & FLAG.gangStop) {
    requeue(context, row.job_id, { counters: row, delayMs: 0, record });
    return;
  }
  const stopped: AttemptEnd = { ...record, outcome: 'cancelled' };
  end(context, row.job_id, row.flags, {
    counters: row,
    status: 'cancelled',
    reason: 'cancelled',
    record: stopped,
    error: null,
  });
}

function refTo(row: HeldRow): LeaseRef {
  return { jobId: row.job_id, attempt: row.attempt };
}
