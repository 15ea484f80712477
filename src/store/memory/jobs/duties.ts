/** Jobs that the background duties look for. */

import type { Job } from '../../../core/job.ts';
import type { HeldLease } from '../../../core/lease.ts';
import type { LostJob, LostRequest, Promoted } from '../../duty-store.ts';
import type { Entry } from '../base/entry.ts';
import { change, jobOf, type Tables, type Worker, workerOf } from '../base/tables.ts';
import { queueRoom } from './meters.ts';

export function promote(tables: Tables, limit: number): Promoted {
  const now = tables.clock.now();
  let count = 0;
  for (let next = tables.live.nextDue(); next !== undefined; next = tables.live.nextDue()) {
    if (next.dueAt > now || count === limit) break;
    change(tables, next, { status: 'pending' });
    tables.newcomers.add(next);
    tables.changes.madeWork();
    tables.changes.changedJob(next.id);
    count += 1;
  }
  const dues = [tables.live.nextDue()?.dueAt, openParkings(tables, now)].filter((at) => at !== undefined);
  return { count, nextDueAt: dues.length === 0 ? null : Math.min(...dues) };
}

/** Announces meters that let jobs start again. Returns when the next one will. */
function openParkings(tables: Tables, now: number): number | undefined {
  let next: number | undefined;
  for (const parking of tables.live.parkings.all()) {
    if (parking.opensAt === Infinity || parking.opensAt === -Infinity) continue;
    if (parking.opensAt > now) next = Math.min(parking.opensAt, next ?? Infinity);
    else {
      parking.opensAt = -Infinity;
      tables.changes.madeWork();
    }
  }
  for (const queue of tables.queues.keys()) {
    const room = tables.live.counts(queue).pending > 0 ? queueRoom(tables, queue) : undefined;
    if (room?.opensAt != null) next = Math.min(room.opensAt, next ?? Infinity);
    else if (room !== undefined) tables.changes.madeWork();
  }
  return next;
}

export function findExpired(tables: Tables, limit: number): Job[] {
  const now = tables.clock.now();
  const first = tables.live.nextToExpire();
  if (first === undefined || (first.expiresAt ?? Infinity) > now) return [];
  return [...tables.live.expiring()]
    .filter((entry) => (entry.expiresAt ?? Infinity) <= now && entry.status !== 'blocked')
    .sort((a, b) => (a.expiresAt ?? 0) - (b.expiresAt ?? 0) || a.id - b.id)
    .slice(0, limit)
    .map((entry) => jobOf(tables, entry));
}

export function leases(tables: Tables): HeldLease[] {
  const workers = [...tables.workers.values()].filter(({ id, offline }) => !offline || tables.live.countHeldBy(id) > 0);
  const renewed = [...tables.live.holders()]
    .flatMap((workerId) => tables.live.heldBy(workerId))
    .filter((entry) => entry.renewedAt !== null);
  return [...workers.map(leaseOf), ...renewed.map((entry) => leaseUnder(tables, entry))];
}

export function leaseOf({ id, seenAt, profile: { leaseMs } }: Worker): HeldLease {
  return { workerId: id, jobId: null, heardAt: seenAt, leaseMs };
}

/** The lease that an entry is held by. */
function leaseUnder(tables: Tables, entry: Entry): HeldLease {
  const lease = leaseOf(workerOf(tables, entry));
  return entry.renewedAt === null ? lease : { ...lease, jobId: entry.id, heardAt: entry.renewedAt };
}

export function findLost(tables: Tables, { limit, dead = [], silent = [] }: LostRequest): LostJob[] {
  const isSilent = listedLease(silent);
  return [...tables.live.holders()]
    .flatMap((workerId) => tables.live.heldBy(workerId))
    .filter((entry) => dead.includes(workerOf(tables, entry).id) || isSilent(leaseUnder(tables, entry)))
    .sort((a, b) => a.id - b.id)
    .slice(0, limit)
    .map((entry) => ({ job: jobOf(tables, entry), workerSeenAt: workerOf(tables, entry).seenAt }));
}

/** Returns whether a list has a lease, as it was last renewed. */
export function listedLease(leases: readonly HeldLease[]): (lease: HeldLease) => boolean {
  const keyOf = ({ workerId, jobId, heardAt }: HeldLease) => `${workerId}.${jobId}.${heardAt}`;
  const listed = new Set(leases.map(keyOf));
  return (lease) => listed.has(keyOf(lease));
}
