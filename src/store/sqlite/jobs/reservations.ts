import {
  latestEnd,
  RESERVATION_MS,
  type Reservation,
  type StoredReservation,
  type Surroundings,
} from '../../../core/capacity.ts';
import type { HeldPlace } from '../../../core/claim-places.ts';
import { type StoredTimes, timesOf } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

interface UseRow extends StoredTimes {
  lane: number;
  started_at: number | null;
}

interface ReservationRow {
  worker_id: number;
  job_id: number;
  lane: number;
  rank: number;
  starts_at: number | null;
  renewed_at: number;
}

/** What a claim of this worker that starts these members of gangs must know before it can reserve. */
export function surroundingsOf(context: Context, workerId: number, members: readonly HeldPlace[]): Surroundings {
  const { database, lanes, now } = context;
  const timesOfJob = (jobId: number) => timesOf(database.get<StoredTimes>(sql.runTimes, jobId));
  const starting = members.map(({ jobId, lane }) => ({
    resources: lane.resources,
    endsAt: latestEnd(timesOfJob(jobId), now),
  }));
  const running = database.all<UseRow>(sql.usesOf, workerId).map((row) => ({
    resources: lanes.laneOf(row.lane).resources,
    endsAt: latestEnd(timesOf(row), row.started_at ?? now),
  }));
  const resources = database.get<{ resources: string }>(sql.workerResources, workerId)?.resources;
  return {
    now,
    total: resources === undefined ? {} : (JSON.parse(resources) as Record<string, number>),
    uses: [...running, ...starting],
    timesOf: timesOfJob,
    reservations: reservations(context),
  };
}

/** Reservations of workers that may claim, for jobs that can still be claimed. */
export function reservations({ database, now }: Context): (StoredReservation & { lane: number; priority: number })[] {
  return database.all<ReservationRow>(sql.reservations, now, now - RESERVATION_MS).map((row) => ({
    workerId: row.worker_id,
    jobId: row.job_id,
    lane: row.lane,
    priority: -row.rank,
    startsAt: row.starts_at,
    renewedAt: row.renewed_at,
  }));
}

export function storeReservation(
  { database, now }: Context,
  workerId: number,
  change: { set: Reservation | null } | undefined,
): void {
  if (change === undefined) return;
  if (change.set === null) database.run(sql.dropReservation, workerId);
  else database.run(sql.setReservation, workerId, change.set.jobId, change.set.startsAt, now);
}
