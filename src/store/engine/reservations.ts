/** Reservations: at most one per worker, for a job that gets what becomes free there. */

import {
  latestEnd,
  RESERVATION_MS,
  type Reservation,
  type StoredReservation,
  type Surroundings,
} from '../../core/capacity.ts';
import { type Lane, laneFromKey } from '../../core/lane.ts';
import { type StoredTimes, timesOf } from '../spec.ts';
import { columns } from '../sql/columns.ts';
import { after, anyOf, type Fragment, now, raw, spelled, sql } from '../sql/sql.ts';
import type { Tx } from '../sql/tx.ts';
import { fromHeld, isPending } from './standing.ts';

export type ReservationRow = StoredReservation & { priority: number; key: string };

export const reservationRow = columns<ReservationRow>({
  workerId: 'int',
  jobId: 'bigint',
  startsAt: 'instant',
  renewedAt: 'instant',
  priority: 'int',
  key: 'text',
});

/** Those of workers that may claim, for jobs that can be claimed. A job that waited for a rate may still be parked. */
export const validReservations = sql`select r.worker_id, r.job_id, r.starts_at, r.renewed_at, -l.rank as priority, n.key
  from reservation r join worker w on w.id = r.worker_id join live l on l.job_id = r.job_id
    left join parking p on p.id = -l.lane join lane n on n.id = coalesce(p.lane, l.lane)
  where r.renewed_at >= ${after(now, -RESERVATION_MS)} and w.state = 'online'
    and ${after(sql`w.seen_at`, sql`w.lease_ms`)} >= ${now} and ${isPending('l')}`;

export async function reservations(tx: Tx): Promise<(ReservationRow & { lane: Lane })[]> {
  return (await tx.all(reservationRow, validReservations)).map((row) => ({ ...row, lane: laneFromKey(row.key) }));
}

const times = spelled({
  sqlite: raw(`j.spec ->> 'timeout_ms' as timeout_ms, j.spec ->> 'kill_grace_ms' as kill_grace_ms,
    j.spec ->> 'on_disconnect' as on_disconnect`),
  postgres: raw(`j.spec -> 'timeout_ms' as timeout_ms, j.spec -> 'kill_grace_ms' as kill_grace_ms,
    j.spec ->> 'on_disconnect' as on_disconnect`),
});
const timeKinds = { timeoutMs: 'bigint', killGraceMs: 'bigint', onDisconnect: 'text' } as const;

export const timesRow = columns<StoredTimes & { id: number }>({ id: 'bigint', ...timeKinds });
export const useRow = columns<StoredTimes & { workerId: number; key: string; startedAt: number | null }>({
  workerId: 'int',
  key: 'text',
  startedAt: 'instant',
  ...timeKinds,
});
export const totalRow = columns<{ id: number; resources: Record<string, number>; now: number }>({
  id: 'int',
  resources: 'json',
  now: 'instant',
});

/** How long runs of jobs can take. */
export function timesOfJobs(ids: readonly number[]): Fragment {
  return sql`select j.id, ${times} from job j where j.id ${anyOf(ids)}`;
}

/** The jobs that workers hold. */
export function usesOfWorkers(ids: readonly number[]): Fragment {
  return sql`select h.worker_id, n.key, h.started_at, ${times} from (
      select distinct l.job_id, l.worker_id, l.lane, l.started_at ${fromHeld(sql`${anyOf(ids)}`)}) h
    join lane n on n.id = h.lane join job j on j.id = h.job_id`;
}

/** What workers registered with. */
export function totalsOfWorkers(ids: readonly number[]): Fragment {
  return sql`select w.id, w.profile -> 'resources' as resources, ${now} as now from worker w where w.id ${anyOf(ids)}`;
}

type RowOf<C> = C extends { fromPostgres(row: never): infer Row } ? Row : never;

interface Around extends Pick<Surroundings, 'timesOf' | 'reservations'> {
  totals: readonly RowOf<typeof totalRow>[];
  uses: readonly RowOf<typeof useRow>[];
}

/** What a claim of this worker must know before it can reserve. */
export function surroundingsOf(workerId: number, { totals, uses, ...around }: Around): Surroundings {
  const { now, resources } = totals.find(({ id }) => id === workerId) ?? { now: 0, resources: {} };
  const own = uses.filter((use) => use.workerId === workerId);
  return {
    ...around,
    now,
    total: resources,
    uses: own.map(({ key, startedAt, ...stored }) => ({
      resources: laneFromKey(key).resources,
      endsAt: latestEnd(timesOf(stored), startedAt ?? now),
    })),
  };
}

/** Adds members of gangs that the claim starts: they are not running yet, but will end, too. */
export function withStarting(
  around: Surroundings,
  members: readonly { jobId: number; lane: Pick<Lane, 'resources'> }[],
): Surroundings {
  const starting = members.map(({ jobId, lane: { resources } }) => ({
    resources,
    endsAt: latestEnd(around.timesOf(jobId), around.now),
  }));
  return { ...around, uses: [...around.uses, ...starting] };
}

/** What claims of these workers must know before they can reserve. The claims consider `jobIds` at most. */
export async function readSurroundings(
  tx: Tx,
  { workerIds, jobIds }: { workerIds: readonly number[]; jobIds: readonly number[] },
): Promise<(workerId: number) => Surroundings> {
  const totals = await tx.all(totalRow, totalsOfWorkers(workerIds));
  const uses = await tx.all(useRow, usesOfWorkers(workerIds));
  const times = new Map((await tx.all(timesRow, timesOfJobs(jobIds))).map((row) => [row.id, timesOf(row)]));
  const around = {
    totals,
    uses,
    timesOf: (jobId: number) => times.get(jobId) ?? timesOf(undefined),
    reservations: await reservations(tx),
  };
  return (workerId) => surroundingsOf(workerId, around);
}

export async function storeReservation(tx: Tx, workerId: number, change: { set: Reservation | null }): Promise<void> {
  if (change.set === null) await tx.run(sql`delete from reservation where worker_id = ${workerId}`);
  else {
    await tx.run(sql`insert into reservation ${reservationRow.values({ ...change.set, workerId, renewedAt: now })}
      on conflict (worker_id) do update
      set job_id = excluded.job_id, starts_at = excluded.starts_at, renewed_at = excluded.renewed_at`);
  }
}
