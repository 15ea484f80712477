/** A person's retry: the row that ended a job is taken back under its lock, and the job waits again. */

import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Change } from '../../../core/transition.ts';
import { FLAG } from '../../flags.ts';
import { keyHeldByOther } from '../../refusals.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { fenceRow, type PlacedChange } from '../base/fence.ts';
import { numbers } from '../base/values.ts';
import { type SpecRow, specOf } from '../reads/job-row.ts';
import { type Kin, lockKin } from './kin.ts';
import type { Transaction } from './transaction.ts';

/** What a job needs to wait again. An ended job is never edited, so this stays true. */
export interface Place {
  lane: number;
  startTimeoutMs: number | null;
}

/** Looked up before the transaction, as lanes are made in transactions of their own. */
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

interface ReopenedRow {
  job_id: number;
  status: string;
  flags: number;
}

/** A job as it was before it was reopened. */
export interface Reopened extends Kin {
  hasChildren: boolean;
  /** It is a group that runs again. */
  expands: boolean;
}

/** Answers with those that still matched; all whom it concerns are locked. */
export async function reopen(
  context: Context,
  { session, locks }: Pick<Transaction, 'session' | 'locks'>,
  round: readonly PlacedChange[],
  places: ReadonlyMap<number, Place>,
): Promise<Reopened[]> {
  const rows = round.flatMap(({ change, place: order }) => {
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
  const { kin: before } = await lockKin(context, { session, locks }, { ids });
  await refuseConflicts(context.sql, session, input);
  const reopened = await session.query<ReopenedRow>(context.sql.reopen, [input]);
  locks.made(reopened.map(({ job_id }) => job_id));
  return reopened.map(({ job_id, status, flags }) => ({
    ...(before.get(job_id) as Kin),
    hasChildren: (flags & FLAG.hasChildren) !== 0,
    expands: status === 'running',
  }));
}

/** A job that waits again does not take its unique key again, but nobody else may have it. */
async function refuseConflicts(sql: Context['sql'], session: Session, input: string): Promise<void> {
  type Row = { id: number; holder: number; key: string };
  const [conflict] = await session.query<Row>(sql.reopenConflicts, [input]);
  if (conflict === undefined) return;
  const { id, holder, key } = conflict;
  throw keyHeldByOther(id, key, holder);
}
