import { type Heartbeat, type HeartbeatAnswer, type LeaseRef, listedIn } from '../../../core/lease.ts';
import { takeBack } from '../../engine/changes.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import type { WorkerState } from './claim.ts';

interface HeldRow {
  job_id: number;
  attempt: number;
  claim_seq: number | null;
  renewed_at: number | null;
  cancel_requested_at: number | null;
}

export async function heartbeat(context: Context, beat: Heartbeat): Promise<HeartbeatAnswer | undefined> {
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
      continue;
    }
    kept.set(row.job_id, row);
    if (isListed && row.renewed_at !== null) renewed.push(row.job_id);
  }
  if (returned.length > 0) await takeBack(txOn(context), workerId, returned);
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

function refTo(row: HeldRow): LeaseRef {
  return { jobId: row.job_id, attempt: row.attempt };
}
