import type { Fence } from '../../../core/fence.ts';
import type { Job } from '../../../core/job.ts';
import type { Change } from '../../../core/transition.ts';
import { keyHeldByOther } from '../../refusals.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import { jobOf, type Tables } from '../base/tables.ts';
import { named } from '../graph/cascade.ts';
import { propagateFrom } from '../graph/propagate.ts';
import { reopen } from '../graph/reopen.ts';
import { end, hold, requeue } from './finish.ts';
import { holderOf } from './unique.ts';

export function applyChanges(tables: Tables, changes: readonly Change[]): (Job | undefined)[] {
  refuseConflicts(tables, changes);
  const written = changes.map((change) => {
    const entry = matching(tables, change.fence);
    if (entry === undefined) return undefined;
    apply(tables, entry, change);
    return jobOf(tables, entry);
  });
  propagateFrom(
    tables,
    named(
      tables,
      changes.map(({ fence }) => fence),
    ),
  );
  return written;
}

/** The entry, if it still matches the fence. */
function matching(tables: Tables, fence: Fence): Entry | undefined {
  const entry = tables.jobs.get(fence.jobId);
  if (entry === undefined || entry.status !== fence.status || entry.attempt !== fence.attempt) return undefined;
  if (entry.status === 'running' && entry.workerId !== fence.workerId) return undefined;
  if ((entry.cancelRequestedAt !== null) !== fence.cancelRequested || entry.gangStop !== fence.gangStop)
    return undefined;
  const { failures, interruptions, snoozes, losses } = entry.counters;
  const { counters } = fence;
  if (failures !== counters.failures || interruptions !== counters.interruptions) return undefined;
  if (snoozes !== counters.snoozes || losses !== counters.losses) return undefined;
  if (fence.workerSeenAt !== undefined) {
    const worker = tables.workers.get(entry.workerId ?? 0);
    if (worker?.seenAt !== fence.workerSeenAt) return undefined;
  }
  return entry;
}

function apply(tables: Tables, entry: Entry, decided: Change): void {
  const now = tables.clock.now();
  switch (decided.kind) {
    case 'flag':
      entry.cancelRequestedAt = now;
      entry.gangStop = decided.gangStop ?? false;
      entry.keepChildren = decided.keepChildren ?? false;
      if (entry.workerId !== null) tables.changes.changedWorker(entry.workerId);
      tables.changes.changedJob(entry.id);
      return;
    case 'hold':
      return hold(tables, entry, decided.success);
    case 'requeue':
      entry.counters = { ...decided.counters };
      return requeue(tables, entry, decided.delayMs, decided.record);
    case 'end':
      entry.counters = { ...decided.counters };
      entry.keepChildren ||= decided.keepChildren ?? false;
      if (decided.result !== undefined) entry.result = copyJson(decided.result);
      return end(tables, entry, decided);
    case 'reopen':
      return reopen(tables, entry, decided.counters);
  }
}

/** Checked before anything is written. A reopened job does not take its unique key again, but no other job may hold it. */
function refuseConflicts(tables: Tables, changes: readonly Change[]): void {
  for (const { kind, fence } of changes) {
    if (kind !== 'reopen') continue;
    const entry = matching(tables, fence);
    if (entry === undefined || entry.uniqueKey === null) continue;
    const holder = holderOf(tables, entry.uniqueKey, tables.clock.now());
    if (holder === undefined || holder.jobId === entry.id) continue;
    throw keyHeldByOther(entry.id, entry.uniqueKey, holder.jobId);
  }
}
