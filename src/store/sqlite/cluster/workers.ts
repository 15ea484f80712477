import { usedBy } from '../../../core/capacity.ts';
import type { NewWorker, WorkerRow } from '../../../core/worker.ts';
import type { RetireRequest } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { leaseRows } from '../jobs/duties.ts';
import { reservations } from '../jobs/reservations.ts';

/** The properties that have no column. */
type Profile = Omit<NewWorker, 'name' | 'attachment' | 'instanceId' | 'leaseMs'>;

interface StoredWorker {
  id: number;
  name: string;
  state: WorkerRow['state'];
  attachment: WorkerRow['attachment'];
  instance_id: string;
  lease_ms: number;
  registered_at: number;
  seen_at: number;
  profile: string;
  running: number;
}

interface HeldLane {
  worker_id: number;
  lane: number;
  count: number;
}

export function registerWorker(context: Context, wanted: NewWorker): WorkerRow {
  const { name, attachment, instanceId, leaseMs, ...profile } = wanted;
  const stored = JSON.stringify(profile satisfies Profile);
  const { database, now } = context;
  const id = database.insert(sql.insertWorker, name, attachment, instanceId, leaseMs, now, stored);
  return worker(context, id) as WorkerRow;
}

export function limitWorkers({ database }: Context, max: number): number {
  const count = () => database.get<{ count: number }>(sql.countWorkers)?.count ?? 0;
  const before = count();
  if (before <= max) return before;
  database.run(sql.crowdOutWorkers, before - max);
  return count();
}

export function workers(context: Context): WorkerRow[] {
  return readWorkers(context, null);
}

/** Reads all workers, or the one with this id. */
function readWorkers(context: Context, only: number | null): WorkerRow[] {
  const { database, lanes } = context;
  const rows = database.all<StoredWorker>(sql.workers, only);
  const held = Map.groupBy(database.all<HeldLane>(sql.heldLanes), ({ worker_id }) => worker_id);
  const reserved = new Map(reservations(context).map((row) => [row.workerId, row]));
  return rows.map((row) => {
    const uses = held.get(row.id)?.map(({ lane, count }) => ({ ...lanes.laneOf(lane), count })) ?? [];
    const { jobId, startsAt, lane } = reserved.get(row.id) ?? {};
    return {
      ...decode(row),
      used: usedBy(uses),
      reserved:
        jobId === undefined || lane === undefined
          ? null
          : { jobId, startsAt: startsAt ?? null, resources: lanes.laneOf(lane).resources },
    };
  });
}

export function drainWorker(context: Context, id: number): WorkerRow | undefined {
  if (context.database.run(sql.drainWorker, id) === 0) return undefined;
  context.effects.changedWorker(id);
  return worker(context, id);
}

export function undrainWorker(context: Context, id: number): WorkerRow | undefined {
  if (context.database.run(sql.undrainWorker, id) === 0) return undefined;
  context.effects.changedWorker(id);
  // Its waiting claim has found nothing.
  context.effects.madeRoom();
  return worker(context, id);
}

export function leaveWorker({ database }: Context, id: number): void {
  database.run(sql.leaveWorker, id);
}

export function retireWorkers({ database, now }: Context, { forgetAfterMs, silent }: RetireRequest): number[] {
  const marked = database.tuples<[number]>(sql.retireWorkers, leaseRows(silent)).map(([id]) => id);
  database.run(sql.forgetWorkers, now - forgetAfterMs);
  database.run(sql.forgetReservations);
  return marked.sort((a, b) => a - b);
}

export function worker(context: Context, id: number): WorkerRow | undefined {
  return readWorkers(context, id)[0];
}

function decode(row: StoredWorker): Omit<WorkerRow, 'used' | 'reserved'> {
  const { draining: _draining, ...profile } = JSON.parse(row.profile) as Profile & { draining?: true };
  return {
    ...profile,
    id: row.id,
    name: row.name,
    state: row.state,
    attachment: row.attachment,
    instanceId: row.instance_id,
    leaseMs: row.lease_ms,
    registeredAt: row.registered_at,
    seenAt: row.seen_at,
    running: row.running,
  };
}
