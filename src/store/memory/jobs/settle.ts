import { needsAll } from '../../../core/gang.ts';
import type { Settled, Start, Success } from '../../../core/lease.ts';
import { copyJson } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { named } from '../graph/cascade.ts';
import { propagateFrom } from '../graph/propagate.ts';
import { end } from './finish.ts';

export function settle(tables: Tables, successes: readonly Success[]): Settled[] {
  const answers = successes.map((success) => settleOne(tables, success));
  propagateFrom(tables, named(tables, successes));
  return answers;
}

function settleOne(tables: Tables, success: Success): Settled {
  const entry = tables.jobs.get(success.jobId);
  if (entry === undefined || entry.attempt !== success.attempt || entry.workerId !== success.workerId) {
    return { result: 'lease_lost' };
  }
  if (entry.status === 'done') return accepted(entry, false);
  // The success of a member is decided on with its gang.
  if (entry.status !== 'running' || needsAll(entry.spec)) return { result: 'lease_lost' };

  entry.startedAt ??= startOf(tables, success.startedAt);
  entry.result = copyJson(success.result ?? null);
  const { exitCode, usage = null } = success;
  const record = { outcome: 'done', exitCode, signal: null, error: null, usage } as const;
  end(tables, entry, { status: 'done', reason: null, record, error: null });
  return accepted(entry, true);
}

/** Caps a reported start at now. */
function startOf({ clock }: Tables, startedAt: number | undefined): number {
  const now = clock.now();
  return Math.min(startedAt ?? now, now);
}

/** Records when prefetched jobs have started. */
export function start(tables: Tables, starts: readonly Start[]): void {
  for (const { jobId, attempt, workerId, startedAt } of starts) {
    const entry = tables.jobs.get(jobId);
    if (entry?.status !== 'running' || entry.attempt !== attempt || entry.workerId !== workerId) continue;
    entry.startedAt ??= startOf(tables, startedAt);
  }
}

function accepted(entry: Entry, fresh: boolean): Settled {
  const { startedAt, doneAt, dueAt } = entry as Entry & { startedAt: number; doneAt: number };
  return { result: 'ok', fresh, queue: entry.spec.queue, dueAt, startedAt, endedAt: doneAt };
}
