import { usedBy } from '../../../core/capacity.ts';
import { laneFromKey } from '../../../core/lane.ts';
import type { NewWorker, WorkerRow } from '../../../core/worker.ts';
import type { RetireRequest } from '../../duty-store.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables, Worker } from '../base/tables.ts';
import { validReservations } from '../jobs/claim.ts';
import { leaseOf, listedLease } from '../jobs/duties.ts';

export function registerWorker(tables: Tables, profile: NewWorker): WorkerRow {
  const now = tables.clock.now();
  const worker: Worker = {
    id: (tables.lastId.worker += 1),
    profile: structuredClone(profile),
    registeredAt: now,
    seenAt: now,
    offline: false,
    draining: false,
  };
  tables.workers.set(worker.id, worker);
  return rowOf(tables, worker);
}

export function limitWorkers(tables: Tables, max: number): number {
  const idle = [...tables.workers.values()].filter(({ id, offline }) => offline && tables.live.countHeldBy(id) === 0);
  idle.sort((a, b) => a.seenAt - b.seenAt || a.id - b.id);
  for (const { id } of idle.slice(0, Math.max(0, tables.workers.size - max))) tables.workers.delete(id);
  return tables.workers.size;
}

export function workers(tables: Tables): WorkerRow[] {
  return [...tables.workers.values()].map((worker) => rowOf(tables, worker));
}

export function worker(tables: Tables, id: number): WorkerRow | undefined {
  const found = tables.workers.get(id);
  return found === undefined ? undefined : rowOf(tables, found);
}

export function drainWorker(tables: Tables, id: number): WorkerRow | undefined {
  const worker = tables.workers.get(id);
  if (worker === undefined) return undefined;
  worker.draining = true;
  tables.changes.changedWorker(id);
  return rowOf(tables, worker);
}

export function undrainWorker(tables: Tables, id: number): WorkerRow | undefined {
  const worker = tables.workers.get(id);
  if (worker === undefined) return undefined;
  worker.draining = false;
  tables.changes.changedWorker(id);
  // Its waiting claim has found nothing.
  tables.changes.madeWork();
  return rowOf(tables, worker);
}

export function leaveWorker(tables: Tables, id: number): void {
  const worker = tables.workers.get(id);
  if (worker !== undefined) worker.offline = true;
}

export function retireWorkers(tables: Tables, { forgetAfterMs, silent }: RetireRequest): number[] {
  const now = tables.clock.now();
  const isSilent = listedLease(silent);
  const marked: number[] = [];
  for (const worker of tables.workers.values()) {
    const silentMs = now - worker.seenAt;
    if (!worker.offline && isSilent(leaseOf(worker))) {
      worker.offline = true;
      marked.push(worker.id);
    }
    if (worker.offline && silentMs > forgetAfterMs && tables.live.countHeldBy(worker.id) === 0) {
      tables.workers.delete(worker.id);
      tables.reservations.delete(worker.id);
    }
  }
  return marked;
}

function rowOf(tables: Tables, worker: Worker): WorkerRow {
  const { id, registeredAt, seenAt, offline, draining } = worker;
  return {
    ...structuredClone(worker.profile),
    id,
    state: offline ? 'offline' : draining ? 'draining' : 'online',
    registeredAt,
    seenAt,
    running: tables.live.countHeldBy(id),
    used: usedBy(tables.live.heldBy(id).map(({ lane }) => laneFromKey(lane))),
    reserved: reservedBy(tables, id),
  };
}

function reservedBy(tables: Tables, workerId: number): WorkerRow['reserved'] {
  const reservation = validReservations(tables).find((row) => row.workerId === workerId);
  if (reservation === undefined) return null;
  const { jobId, startsAt } = reservation;
  return { jobId, startsAt, resources: laneFromKey((tables.jobs.get(jobId) as Entry).lane).resources };
}
