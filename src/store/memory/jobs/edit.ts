import { isWaiting, type Job } from '../../../core/job.ts';
import type { JobEdit } from '../../../core/job-edit.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Entry } from '../base/entry.ts';
import { change, jobOf, type Tables } from '../base/tables.ts';
import { noticeFairKey } from './turns.ts';

export function edit(tables: Tables, jobId: number, { runAt, ...wanted }: JobEdit): Job | undefined {
  const entry = tables.jobs.get(jobId);
  if (entry === undefined || !isWaiting(entry.status)) return undefined;
  const spec = {
    ...entry.spec,
    ...wanted,
    tags: [...(wanted.tags ?? entry.spec.tags)],
  };
  const moved = runAt === undefined ? {} : dueFrom(tables, entry, runAt);
  noticeFairKey(tables, spec);
  // A moved job gets a new turn.
  const isMoved = runAt !== undefined || wanted.queue !== undefined || wanted.priority !== undefined;
  const turn = isMoved ? { turn: 0, turnKey: null } : {};
  change(tables, entry, { spec, lane: laneKey(laneOf(spec)), parkedIn: null, ...moved, ...turn });
  if (isMoved) tables.newcomers.add(entry);
  if (entry.status === 'scheduled') tables.changes.willBeDue(entry.dueAt);
  else tables.changes.madeWork();
  tables.changes.changedJob(jobId);
  return jobOf(tables, entry);
}

function dueFrom(tables: Tables, entry: Entry, runAt: number): Partial<Entry> {
  const dueAt = Math.max(runAt, entry.createdAt);
  const later = dueAt > tables.clock.now();
  const expires = entry.expiresAt !== null && entry.spec.startTimeoutMs !== null;
  return {
    dueAt,
    status: entry.status === 'blocked' ? 'blocked' : later ? 'scheduled' : 'pending',
    expiresAt: expires ? dueAt + (entry.spec.startTimeoutMs as number) : null,
  };
}
