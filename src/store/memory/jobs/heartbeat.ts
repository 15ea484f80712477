import type { AttemptEnd } from '../../../core/attempt-end.ts';
import { type Heartbeat, type HeartbeatAnswer, type LeaseRef, listedIn } from '../../../core/lease.ts';
import type { Entry } from '../base/entry.ts';
import { isSilent, type Tables } from '../base/tables.ts';
import { named } from '../graph/cascade.ts';
import { propagateFrom } from '../graph/propagate.ts';
import { end, requeue } from './finish.ts';

export function heartbeat(tables: Tables, { workerId, leases, seenClaim }: Heartbeat): HeartbeatAnswer | undefined {
  const worker = tables.workers.get(workerId);
  if (worker === undefined) return undefined;
  // It may claim again: its waiting claim has found nothing.
  if (worker.offline || isSilent(tables, worker)) tables.changes.madeWork();
  const now = tables.clock.now();
  worker.seenAt = now;
  worker.offline = false;

  const isListed = listedIn(leases);
  const returned: LeaseRef[] = [];
  for (const entry of tables.live.heldBy(workerId)) {
    if (isListed(refTo(entry))) {
      if (entry.renewedAt !== null) entry.renewedAt = now;
    } else if (entry.claimSeq !== null && seenClaim !== null && entry.claimSeq <= seenClaim) {
      returned.push(refTo(entry));
      giveBack(tables, entry);
    }
  }
  propagateFrom(tables, named(tables, returned));
  const held = tables.live.heldBy(workerId);
  return {
    cancel: held.filter((entry) => entry.cancelRequestedAt !== null).map(refTo),
    lost: (leases ?? [])
      .filter(({ jobId, attempt }) => !held.some((entry) => entry.id === jobId && entry.attempt === attempt))
      .map(({ jobId, attempt }) => ({ jobId, attempt })),
    drain: worker.draining,
    returned,
  };
}

/** Returns a job that the worker never received to its queue. */
function giveBack(tables: Tables, entry: Entry): void {
  const record: AttemptEnd = { outcome: 'returned', exitCode: null, signal: null, error: null };
  if (entry.cancelRequestedAt === null || entry.gangStop) requeue(tables, entry, 0, record);
  else {
    const stopped: AttemptEnd = { ...record, outcome: 'cancelled' };
    end(tables, entry, { status: 'cancelled', reason: 'cancelled', record: stopped, error: null });
  }
}

function refTo(entry: Entry): LeaseRef {
  return { jobId: entry.id, attempt: entry.attempt };
}
