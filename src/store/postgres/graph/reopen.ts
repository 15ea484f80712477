/** A person's retry: the final row of a job is taken back under its lock, and the job waits again. */

import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Change } from '../../../core/transition.ts';
import { FLAG } from '../../flags.ts';
import { keyHeldByOther } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { fenceRow } from '../base/fence.ts';
import { numbers } from '../base/values.ts';
import { type SpecRow, specOf } from '../reads/job-row.ts';
import { lockRelatedJobs, type RelatedJob } from './related-jobs.ts';
import { UnknownLanes } from './retry-transaction.ts';
import type { Transaction } from './transaction.ts';

/** The columns that a job needs to wait again. An ended job is never edited, so they do not change. */
interface Place {
  lane: number;
  startTimeoutMs: number | null;
}

/** Looked up before the transaction, because lanes are inserted by other transactions. */
export async function lanesToReopen(
  { database, sql, lanes }: Context,
  changes: readonly Change[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Place>> {
  const ids = changes.flatMap(({ kind, fence }) => (kind === 'reopen' ? [fence.jobId] : []));
  if (ids.length === 0) return new Map();
  const rows = await database.query<SpecRow & { id: number }>(sql.specs, [numbers(ids)], signal);
  const specs = rows.map(specOf);
  const laneIds = await lanes.idsOf(
    specs.map((spec) => laneKey(laneOf(spec))),
    signal,
  );
  return new Map(
    rows.map(({ id }, index) => {
      const startTimeoutMs = specs[index]?.startTimeoutMs ?? null;
      return [id, { lane: laneIds[index] as number, startTimeoutMs }];
    }),
  );
}

/** The lanes of jobs that get a live row again. Throws `UnknownLanes` if this process does not know one of them. */
export async function lanesOf(
  { sql, lanes }: Context,
  session: Session,
  jobs: readonly { id: number }[],
): Promise<number[]> {
  const rows = await session.query<SpecRow & { id: number }>(sql.specs, [numbers(jobs.map(({ id }) => id))]);
  const keys = new Map(rows.map((row) => [row.id, laneKey(laneOf(specOf(row)))]));
  const wanted = jobs.map(({ id }) => keys.get(id) as string);
  const ids = lanes.knownIds(wanted);
  if (ids === undefined) throw new UnknownLanes(wanted);
  return ids;
}

interface ReopenedRow {
  job_id: number;
  status: string;
  flags: number;
}

/** A job as it was before it was reopened. */
interface Reopened extends RelatedJob {
  hasChildren: boolean;
  /** True for a group that runs again. */
  expands: boolean;
}

/** Returns the jobs whose fences still matched. All affected jobs are locked. */
export async function reopen(
  context: Context,
  { session, locks }: Pick<Transaction, 'session' | 'locks'>,
  changes: readonly Change[],
  places: ReadonlyMap<number, Place>,
): Promise<Reopened[]> {
  const rows = changes.flatMap((change, order) => {
    const place = places.get(change.fence.jobId);
    if (change.kind !== 'reopen' || place === undefined) return [];
    const { failures, interruptions, snoozes, losses } = change.counters;
    return [
      {
        ...fenceRow(change.fence),
        to_failures: failures,
        to_interruptions: interruptions,
        to_snoozes: snoozes,
        to_losses: losses,
        place: order,
        lane: place.lane,
        start_timeout_ms: place.startTimeoutMs,
      },
    ];
  });
  if (rows.length === 0) return [];
  const input = JSON.stringify(rows);
  const ids = rows.map(({ job_id }) => job_id);
  const { related: before } = await lockRelatedJobs(context, { session, locks }, { ids });
  await refuseConflicts(context.sql, session, input);
  const reopened = await session.query<ReopenedRow>(context.sql.reopen, [input]);
  locks.made(reopened.map(({ job_id }) => job_id));
  return reopened.map(({ job_id, status, flags }) => ({
    ...(before.get(job_id) as RelatedJob),
    hasChildren: (flags & FLAG.hasChildren) !== 0,
    expands: status === 'running',
  }));
}

/** A reopened job does not take its unique key again, but no other job may hold it. */
async function refuseConflicts(sql: Context['sql'], session: Session, input: string): Promise<void> {
  type Row = { id: number; holder: number; key: string };
  const [conflict] = await session.query<Row>(sql.reopenConflicts, [input]);
  if (conflict === undefined) return;
  const { id, holder, key } = conflict;
  throw keyHeldByOther(id, key, holder);
}
