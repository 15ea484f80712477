/**
 * Writes changes whose jobs still match their fences. All jobs of a call are locked first, then checked and written in a
 * later statement, which sees all that the locks had to wait for.
 */

import type { Job } from '../../../core/job.ts';
import type { Change } from '../../../core/transition.ts';
import type { EndedJob } from '../../engine/graph/graph-update.ts';
import { type Intended, lockAffected } from '../../engine/graph/lock-affected.ts';
import { reopen } from '../../engine/graph/reopen.ts';
import { FLAG } from '../../flags.ts';
import type { Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { inTransaction } from '../base/engine.ts';
import { fenceRow } from '../base/fence.ts';
import { jsons, numbers } from '../base/values.ts';
import { decodeJob, type JobRow } from '../reads/job-row.ts';

const ENDS_ATTEMPT: readonly Change['kind'][] = ['end', 'requeue', 'hold'];

/** A written change, and what has to be announced of it. */
interface Written {
  job: Job;
  change: Change;
}

export async function applyChanges(
  context: Context,
  asked: readonly Change[],
  signal: AbortSignal,
): Promise<(Job | undefined)[]> {
  signal.throwIfAborted();
  if (asked.length === 0) return [];
  // The state that a second change of a job expects is no longer there after the first.
  const changes = [...Map.groupBy(asked, ({ fence }) => fence.jobId).values()].map(([first]) => first as Change);
  const written = await inTransaction(context, signal, async (tx, session) => {
    const { effects, graphUpdate } = tx;
    await lockAffected(tx, intendedBy(changes));
    const live = await changeLive(context, session, changes);
    const reopened = await reopen(
      tx,
      changes.filter((change) => change.kind === 'reopen'),
    );
    const rows = await session.query<JobRow>(context.sql.jobs, [
      numbers([...live.map(({ job_id }) => job_id), ...reopened]),
    ]);
    const jobs = new Map(rows.map((row) => [row.id, decodeJob(row)]));
    const found = changes.flatMap((change): Written[] => {
      const job = jobs.get(change.fence.jobId);
      return job === undefined ? [] : [{ job, change }];
    });
    noteRequeued(tx, changes, live);
    graphUpdate.at(live[0]?.now ?? 0);
    graphUpdate.ended(endedOf(changes, live));
    if (live.some(({ kind, flags }) => kind === 'flag' && flags & FLAG.group)) effects.changedGraph();
    await graphUpdate.write(tx);
    await changePlaces(context, session, found);
    return found;
  });
  tell(context, written);
  const jobs = new Map(written.map(({ change, job }) => [change, job]));
  return asked.map((change) => {
    const job = jobs.get(change);
    jobs.delete(change);
    return job;
  });
}

/** The places of gangs are locked last. Those of members that a person retries are lost; successes that wait for others are kept there. */
async function changePlaces({ sql }: Context, session: Session, written: readonly Written[]): Promise<void> {
  const held = written.flatMap((entry) => (entry.change.kind === 'hold' ? [entry.change] : []));
  if (held.length > 0) {
    const successes = held.map(({ success: { exitCode, result = null, usage } }) => ({ exitCode, result, usage }));
    await session.query(sql.noteSuccesses, [numbers(held.map(({ fence }) => fence.jobId)), jsons(successes)]);
  }
  const ids = written.flatMap((entry) =>
    entry.change.kind === 'reopen' && entry.job.gang !== null ? [entry.job.id] : [],
  );
  if (ids.length > 0) await session.query(sql.leavePlaces, [numbers(ids)]);
}

interface ChangedRow {
  job_id: number;
  kind: Change['kind'];
  flags: number;
  now: number;
}

function noteRequeued({ graphUpdate }: Tx, changes: readonly Change[], live: readonly ChangedRow[]): void {
  const returned = new Set(
    changes.flatMap((change) =>
      change.kind === 'requeue' && change.record.outcome === 'returned' ? [change.fence.jobId] : [],
    ),
  );
  for (const { kind, job_id, flags } of live) {
    if (kind !== 'requeue') continue;
    graphUpdate.claimable(job_id);
    graphUpdate.attemptEnded(job_id, { flags, returned: returned.has(job_id) });
  }
}

/** Returns the changes that still matched; their jobs are locked. */
async function changeLive({ sql }: Context, session: Session, changes: readonly Change[]): Promise<ChangedRow[]> {
  const rows = changes.flatMap((change) => (change.kind === 'reopen' ? [] : [rowOf(change)]));
  if (rows.length === 0) return [];
  const written = await session.query<ChangedRow>(sql.change, [JSON.stringify(rows)]);
  await writeMembers(sql, session, changes, written);
  return written;
}

/** Writes what only members of gangs have: that they wait for others, and the results of those that are done. */
async function writeMembers(
  sql: Context['sql'],
  session: Session,
  changes: readonly Change[],
  written: readonly ChangedRow[],
): Promise<void> {
  const ids = new Set(written.map(({ job_id }) => job_id));
  const matched = changes.filter(({ fence }) => ids.has(fence.jobId));
  const held = matched.filter((change) => change.kind === 'hold');
  if (held.length > 0) await session.query(sql.holdMembers, [numbers(held.map(({ fence }) => fence.jobId))]);
  const done = matched.filter((change) => change.kind === 'end').filter(({ result }) => result != null);
  if (done.length > 0) {
    const results = done.map(({ result }) => result);
    await session.query(sql.writeResults, [numbers(done.map(({ fence }) => fence.jobId)), jsons(results)]);
  }
}

function intendedBy(changes: readonly Change[]): Intended {
  const those = (...kinds: Change['kind'][]) =>
    changes.filter(({ kind }) => kinds.includes(kind)).map(({ fence }) => fence.jobId);
  return { ends: those('end'), retries: those('reopen'), others: those('requeue', 'flag', 'hold') };
}

function endedOf(changes: readonly Change[], written: readonly ChangedRow[]): EndedJob[] {
  const flags = new Map(written.map((row) => [row.job_id, row.flags]));
  return changes.flatMap((change) => {
    const own = flags.get(change.fence.jobId);
    if (change.kind !== 'end' || own === undefined) return [];
    const kept = change.keepChildren === true ? FLAG.keepChildren : 0;
    return [{ jobId: change.fence.jobId, flags: own | kept, status: change.status }];
  });
}

function rowOf(change: Exclude<Change, { kind: 'reopen' }>) {
  const fence = { ...fenceRow(change.fence), kind: change.kind, seen_at: change.fence.workerSeenAt ?? null };
  if (change.kind === 'hold') return fence;
  if (change.kind === 'flag') {
    return { ...fence, keep_children: change.keepChildren ?? false, stop_gang: change.gangStop ?? false };
  }
  const { failures, interruptions, snoozes, losses } = change.counters;
  const { outcome = null, exitCode = null, signal = null, error = null, thrown = null, usage } = change.record ?? {};
  return {
    ...fence,
    to_failures: failures,
    to_interruptions: interruptions,
    to_snoozes: snoozes,
    to_losses: losses,
    outcome,
    exit_code: exitCode,
    signal,
    error: change.kind === 'end' ? change.error : error,
    thrown,
    cpu_ms: usage?.cpuMs ?? null,
    max_rss: usage?.maxRssBytes ?? null,
    ...(change.kind === 'end'
      ? { to_status: change.status, reason: change.reason }
      : {
          to_status: change.delayMs === 0 ? 'pending' : 'scheduled',
          delay_ms: change.delayMs,
          suspect: change.suspect ?? null,
        }),
  };
}

function tell({ hints, lanes, openClaims }: Context, done: readonly Written[]): void {
  if (done.length === 0) return;
  for (const { change } of done) {
    const { jobId, attempt } = change.fence;
    if (ENDS_ATTEMPT.includes(change.kind)) openClaims.release(jobId, attempt);
  }
  const scheduled = done.filter(({ job }) => job.status === 'scheduled');
  hints.announce({
    jobs: done.map(({ job }) => job.id),
    // An end makes room where the number of running jobs is limited.
    work: done.some(({ job, change }) => job.status === 'pending' || (change.kind === 'end' && lanes.anyLimited)),
    workers: done.flatMap(({ change }) => (change.kind === 'flag' ? (change.fence.workerId ?? []) : [])),
    dueAt: scheduled.length === 0 ? null : Math.min(...scheduled.map(({ job }) => job.dueAt)),
  });
}
