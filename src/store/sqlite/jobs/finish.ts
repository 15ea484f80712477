/** The two ways in which an attempt ends: the job waits again, or has ended, too. The caller has checked the fence. */

import type { AttemptEnd } from '../../../core/attempt-end.ts';
import type { MemberSuccess } from '../../../core/gang.ts';
import type { Counters } from '../../../core/job.ts';
import type { Change } from '../../../core/transition.ts';
import { FLAG } from '../../flags.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

import { releaseMeters } from './meters.ts';

interface Requeue {
  counters: Counters;
  delayMs: number;
  record: AttemptEnd;
  suspect?: boolean;
}

/** The job waits again: without a delay in its old place or, in a fair queue, behind the waiting jobs of its key. */
export function requeue(context: Context, jobId: number, { counters, delayMs, record, suspect }: Requeue): void {
  const { database, now, effects, graphUpdate } = context;
  const { failures, interruptions, snoozes, losses } = counters;
  const { outcome, exitCode, signal, error } = record;
  database.run(sql.recordAttempt, jobId, now, outcome, exitCode, signal, error, thrownText(record), ...usageOf(record));
  releaseMeters(context, [jobId], { returned: outcome === 'returned' });
  const dueAt = delayMs === 0 ? null : now + Math.round(delayMs);
  database.run(
    sql.requeue,
    jobId,
    dueAt === null ? 'pending' : 'scheduled',
    dueAt,
    failures,
    interruptions,
    snoozes,
    losses,
    record.outcome === 'returned' ? 1 : 0,
    FLAG.gangStop | (suspect === false ? FLAG.suspect : 0),
    suspect === true ? FLAG.suspect : 0,
  );
  if (dueAt !== null) effects.willBeDue(dueAt);
  else {
    graphUpdate.claimable(jobId);
    effects.madeWork();
  }
  effects.changedJob(jobId);
}

/** The member of a gang waits for the others to succeed. */
export function hold({ database, effects }: Context, jobId: number, success: MemberSuccess): void {
  const { exitCode, result = null, usage } = success;
  database.run(sql.holdMembers, jobId);
  database.run(sql.noteSuccesses, jobId, JSON.stringify({ exitCode, result, usage }));
  effects.madeRoom();
  effects.changedJob(jobId);
}

function thrownText({ thrown }: AttemptEnd): string | null {
  return thrown == null ? null : JSON.stringify(thrown);
}

function usageOf(record: AttemptEnd | null): [cpuMs: number | null, maxRssBytes: number | null] {
  return [record?.usage?.cpuMs ?? null, record?.usage?.maxRssBytes ?? null];
}

type End = Omit<Extract<Change, { kind: 'end' }>, 'kind' | 'fence'>;

export function end(context: Context, jobId: number, liveFlags: number, wanted: End): void {
  const { database, now, effects, graphUpdate } = context;
  const { counters, status, reason, record, error, keepChildren } = wanted;
  const flags = liveFlags | (keepChildren ? FLAG.keepChildren : 0);
  database.run(
    sql.endRun,
    jobId,
    now,
    status,
    reason,
    record?.outcome ?? status,
    record?.exitCode ?? null,
    record?.signal ?? null,
    error,
    counters.failures,
    counters.interruptions,
    counters.snoozes,
    counters.losses,
    record === null ? 0 : 1,
    record === null ? null : thrownText(record),
    ...usageOf(record),
  );
  if (wanted.result != null) database.run(sql.completeResult, jobId, JSON.stringify(wanted.result));
  database.run(sql.endLive, jobId);
  effects.madeRoom();
  effects.changedJob(jobId);
  graphUpdate.ended([{ jobId, flags, status }]);
}
