/** Jobs that the background duties look for. */

import type { HeldLease } from '../../../core/lease.ts';
import type { LostRequest, Promoted } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { idOf, type JobRow } from '../reads/job-row.ts';
import { read } from '../reads/reading.ts';
import { Headroom } from './headroom.ts';

/** When the rates of queues with pending jobs allow starts again. Announces those that do now. */
function queueOpenings(context: Context): number[] {
  const headroom = new Headroom(context);
  return headroom.rated().flatMap((queue) => {
    if (context.database.get(sql.queueHasPending, queue) === undefined) return [];
    const opensAt = headroom.room(queue)?.opensAt ?? null;
    if (opensAt === null) context.effects.madeRoom();
    return opensAt === null ? [] : [opensAt];
  });
}

export function promote(context: Context, limit: number): Promoted {
  const { database, now, effects, graphUpdate } = context;
  const ids = database.tuples<[number]>(sql.dueJobs, now, limit).map(([id]) => id);
  if (ids.length > 0) {
    database.run(sql.promote, JSON.stringify(ids));
    effects.madeWork();
    for (const id of ids) {
      effects.changedJob(id);
      graphUpdate.claimable(id);
    }
  }
  if (database.run(sql.openDueParkings, now) > 0) effects.madeWork();
  const due = database.get<{ due: number | null }>(sql.nextDue)?.due ?? null;
  const opening = database.get<{ at: number | null }>(sql.nextOpening, now)?.at ?? null;
  const dues = [due, opening, ...queueOpenings(context)].filter((at) => at !== null);
  return { count: ids.length, nextDueAt: dues.length === 0 ? null : Math.min(...dues) };
}

export function findExpired(context: Context, limit: number): JobRow[] {
  const { database, now } = context;
  const ids = database.tuples<[number]>(sql.expiredJobs, now, limit).map(([id]) => id);
  return read(context, ids);
}

export function leases({ database }: Context): HeldLease[] {
  type Row = [workerId: number, jobId: number, heardAt: number, leaseMs: number];
  return database
    .tuples<Row>(sql.leases)
    .map(([workerId, jobId, heardAt, leaseMs]) => ({ workerId, jobId: jobId || null, heardAt, leaseMs }));
}

/** Returns lost jobs, each with the last heartbeat of its worker. */
export function findLost(
  context: Context,
  { limit, dead = [], silent = [] }: LostRequest,
): (readonly [job: JobRow, workerSeenAt: number])[] {
  const values = [JSON.stringify(dead), limit, leaseRows(silent)];
  const lost = context.database.tuples<[jobId: number, seenAt: number]>(sql.lostJobs, ...values);
  const seenAt = new Map(lost);
  return read(context, [...seenAt.keys()]).map((row) => [row, seenAt.get(idOf(row)) as number]);
}

/** Leases as a statement reads them. No job has the id 0. */
export function leaseRows(leases: readonly HeldLease[]): string {
  return JSON.stringify(leases.map(({ workerId, jobId, heardAt }) => [workerId, jobId ?? 0, heardAt]));
}
