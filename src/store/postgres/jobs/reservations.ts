import {
  latestEnd,
  RESERVATION_MS,
  type Reservation,
  type RunTimes,
  type StoredReservation,
  type Surroundings,
} from '../../../core/capacity.ts';
import { laneFromKey } from '../../../core/lane.ts';
import { type StoredTimes, timesOf } from '../../spec.ts';
import type { Session } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';

interface ResourcesRow {
  id: number;
  resources: Record<string, number>;
  now: number;
}

interface UseRow extends StoredTimes {
  worker_id: number;
  /** The key of its lane. */
  key: string;
  started_at: number | null;
}

interface ReservationRow {
  worker_id: number;
  job_id: number;
  key: string;
  rank: number;
  starts_at: number | null;
  renewed_at: number;
}

/** What claims of these workers must know before they can reserve. The claims consider `jobIds` at most. */
export async function readSurroundings(
  sql: Sql,
  session: Session,
  { workerIds, jobIds }: { workerIds: readonly number[]; jobIds: readonly number[] },
): Promise<(workerId: number) => Surroundings> {
  const ids = numbers(workerIds);
  const totals = await session.query<ResourcesRow>(sql.workerResources, [ids]);
  const uses = Map.groupBy(await session.query<UseRow>(sql.usesOf, [ids]), ({ worker_id }) => worker_id);
  const rows = await session.query<StoredTimes & { id: number }>(sql.runTimes, [numbers(jobIds)]);
  const times = new Map<number, RunTimes>(rows.map((row) => [row.id, timesOf(row)]));
  const reservations = await readReservations(sql, session);
  return (workerId) => {
    const { now, resources } = totals.find(({ id }) => id === workerId) ?? { now: 0, resources: {} };
    return {
      now,
      total: resources,
      uses: (uses.get(workerId) ?? []).map((row) => ({
        resources: laneFromKey(row.key).resources,
        endsAt: latestEnd(timesOf(row), row.started_at ?? now),
      })),
      timesOf: (jobId) => times.get(jobId) ?? timesOf(undefined),
      reservations,
    };
  };
}

/** Reservations of workers that may claim, for jobs that can still be claimed. */
export async function readReservations(
  sql: Sql,
  session: Session,
): Promise<(StoredReservation & { lane: string; priority: number })[]> {
  const rows = await session.query<ReservationRow>(sql.reservations, [RESERVATION_MS]);
  return rows.map((row) => ({
    workerId: row.worker_id,
    jobId: row.job_id,
    lane: row.key,
    priority: -row.rank,
    startsAt: row.starts_at,
    renewedAt: row.renewed_at,
  }));
}

export async function storeReservation(
  sql: Sql,
  session: Session,
  workerId: number,
  change: { set: Reservation | null } | undefined,
): Promise<void> {
  if (change === undefined) return;
  if (change.set === null) await session.query(sql.dropReservation, [workerId]);
  else await session.query(sql.setReservation, [workerId, change.set.jobId, change.set.startsAt]);
}
