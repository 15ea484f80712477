/** Jobs that the background duties look for. */

import type { Job } from '../../../core/job.ts';
import { isLeaseOver } from '../../../core/lease.ts';
import type { DutyStore, LostJob, Promoted } from '../../duty-store.ts';
import { change, heardAt, jobOf, type Tables, workerOf } from '../base/tables.ts';
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

export function findLost(tables: Tables, { limit, dead, watched }: Parameters<DutyStore['findLost']>[0]): LostJob[] {
  const now = tables.clock.now();
  return [...tables.live.holders()]
    .flatMap((workerId) => tables.live.heldBy(workerId))
    .filter((entry) => {
      const worker = workerOf(tables, entry);
      const lease = { heardAt: heardAt(tables, entry), leaseMs: worker.profile.leaseMs };
      return dead.includes(worker.id) || isLeaseOver(lease, now, watched);
    })
    .sort((a, b) => a.id - b.id)
    .slice(0, limit)
    .map((entry) => ({ job: jobOf(tables, entry), workerSeenAt: workerOf(tables, entry).seenAt }));
}
