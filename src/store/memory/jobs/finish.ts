/** The two ways in which an attempt ends: the job waits again, or has ended, too. */

import type { AttemptEnd } from '../../../core/attempt-end.ts';
import type { MemberSuccess } from '../../../core/gang.ts';
import type { Reason, TerminalStatus } from '../../../core/job.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import { change, type Tables } from '../base/tables.ts';
import { noteEnd } from '../cluster/notices.ts';
import { itemEnded } from '../graph/groups.ts';
import { stepEnded } from '../graph/workflow-row.ts';
import { releaseMeters } from './meters.ts';
import { dropKey } from './unique.ts';

/** The job waits again: without a delay in its old place or, in a fair queue, behind the waiting jobs of its key. */
export function requeue(tables: Tables, entry: Entry, delayMs: number, record: AttemptEnd): void {
  const now = tables.clock.now();
  note(entry, record, now);
  const dueAt = delayMs === 0 ? entry.dueAt : now + delayMs;
  change(tables, entry, {
    status: delayMs === 0 ? 'pending' : 'scheduled',
    dueAt,
    claimSeq: null,
    renewedAt: null,
    cancelRequestedAt: null,
    gangStop: false,
    expiresAt: record.outcome === 'returned' ? entry.expiresAt : null,
  });
  releaseMeters(tables, entry, { returned: record.outcome === 'returned' });
  if (delayMs > 0) tables.changes.willBeDue(dueAt);
  else {
    tables.newcomers.add(entry);
    tables.changes.madeWork();
  }
  tables.changes.changedJob(entry.id);
}

/** The member of a gang waits for the others to succeed. */
export function hold(tables: Tables, entry: Entry, { exitCode, result, usage }: MemberSuccess): void {
  change(tables, entry, { status: 'blocked', claimSeq: null, renewedAt: null });
  const place = tables.places.get(entry.id);
  if (place !== undefined)
    place.success = { exitCode, result: copyJson(result ?? null), ...(usage === undefined ? {} : { usage }) };
  tables.changes.madeWork();
  tables.changes.changedJob(entry.id);
}

interface End {
  status: TerminalStatus;
  reason: Reason | null;
  /** `null` where no attempt was running. */
  record: AttemptEnd | null;
  error: string | null;
}

/** Ends a job. The caller propagates the end to its children, or leaves that to the cascade. */
export function end(tables: Tables, entry: Entry, { status, reason, record, error }: End): void {
  const now = tables.clock.now();
  if (record !== null) note(entry, record, now);
  change(tables, entry, {
    status,
    reason,
    doneAt: now,
    expiresAt: null,
    claimSeq: null,
    renewedAt: null,
    end: {
      exitCode: record?.exitCode ?? null,
      signal: record?.signal ?? null,
      error,
      thrown: record?.thrown ?? null,
    },
  });
  if (record !== null) releaseMeters(tables, entry, { returned: false });
  dropKey(tables, entry, ['pending', 'active']);
  tables.changes.madeWork();
  tables.changes.changedJob(entry.id);
  noteEnd(tables, entry, status);
  stepEnded(tables, entry, status);
  itemEnded(tables, entry, status);
  if (entry.children.size === 0) return;
  tables.cascade.add(entry);
  tables.changes.changedGraph();
}

function note(entry: Entry, record: AttemptEnd, now: number): void {
  entry.attempts.push({
    jobId: entry.id,
    attempt: entry.attempt,
    workerId: entry.workerId,
    startedAt: entry.startedAt ?? now,
    endedAt: now,
    outcome: record.outcome,
    exitCode: record.exitCode,
    signal: record.signal,
    error: record.error,
    thrown: record.thrown ?? null,
    usage: record.usage ?? null,
  });
}
