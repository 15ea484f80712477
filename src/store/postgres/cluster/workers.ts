import { type StoredReservation, usedBy } from '../../../core/capacity.ts';
import { laneFromKey } from '../../../core/lane.ts';
import type { NewWorker, WorkerRow } from '../../../core/worker.ts';
import type { RetireRequest } from '../../duty-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { readReservations } from '../jobs/reservations.ts';

interface Row {
  id: number;
  name: string;
  state: WorkerRow['state'];
  attachment: WorkerRow['attachment'];
  instance_id: string;
  lease_ms: number;
  registered_at: number;
  seen_at: number;
  profile: Pick<
    NewWorker,
    | 'host'
    | 'pid'
    | 'address'
    | 'slots'
    | 'queues'
    | 'commands'
    | 'handlers'
    | 'tags'
    | 'resources'
    | 'version'
    | 'registeredBy'
  >;
  running: number;
}

interface HeldLane {
  worker_id: number;
  /** The key of the lane. */
  key: string;
  count: number;
}

/** A worker attached to the database holds its lock before its row is visible. */
export async function registerWorker(context: Context, worker: NewWorker, signal: AbortSignal): Promise<WorkerRow> {
  const { database, sql, direct } = context;
  const [next] = await database.query<{ id: number }>(sql.nextWorkerId, [], signal);
  const id = next?.id as number;
  if (worker.attachment === 'direct') await direct.hold(id, signal);
  const { name, attachment, instanceId, leaseMs, ...profile } = worker;
  try {
    const values = [id, name, attachment, instanceId, leaseMs, JSON.stringify(profile)];
    await database.query(sql.insertWorker, values, signal);
  } catch (error) {
    direct.release(id);
    throw error;
  }
  const [row] = await readWorkers(context, id, signal);
  if (row === undefined) throw new Error(`worker ${id} is gone as soon as it was registered`);
  return row;
}

export async function limitWorkers({ database, sql }: Context, max: number, signal: AbortSignal): Promise<number> {
  const count = async () => (await database.query<{ count: number }>(sql.countWorkers, [], signal))[0]?.count ?? 0;
  const before = await count();
  if (before <= max) return before;
  await database.transaction(signal, (session) => session.query(sql.crowdOutWorkers, [before - max]));
  return await count();
}

export function workers(context: Context, signal: AbortSignal): Promise<WorkerRow[]> {
  return readWorkers(context, null, signal);
}

export async function worker(context: Context, id: number, signal: AbortSignal): Promise<WorkerRow | undefined> {
  return (await readWorkers(context, id, signal))[0];
}

/** Reads all workers, or the one with this id. */
async function readWorkers({ database, sql }: Context, only: number | null, signal: AbortSignal): Promise<WorkerRow[]> {
  const rows = await database.query<Row>(sql.workers, [only], signal);
  if (rows.length === 0) return [];
  const session: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  const held = Map.groupBy(
    await session.query<HeldLane>(sql.heldLanes, [numbers(rows.map(({ id }) => id))]),
    ({ worker_id }) => worker_id,
  );
  const reserved = new Map((await readReservations(sql, session)).map((row) => [row.workerId, row]));
  return rows.map(({ profile, ...row }) => ({
    id: row.id,
    name: row.name,
    state: row.state,
    attachment: row.attachment,
    instanceId: row.instance_id,
    host: profile.host,
    pid: profile.pid,
    address: profile.address,
    slots: profile.slots,
    queues: profile.queues,
    commands: profile.commands,
    handlers: profile.handlers,
    tags: profile.tags,
    resources: profile.resources,
    leaseMs: row.lease_ms,
    version: profile.version,
    registeredBy: profile.registeredBy,
    registeredAt: row.registered_at,
    seenAt: row.seen_at,
    running: row.running,
    used: usedBy(held.get(row.id)?.map(({ key, count }) => ({ ...laneFromKey(key), count })) ?? []),
    reserved: reservationOf(reserved.get(row.id)),
  }));
}

export async function drainWorker(context: Context, id: number, signal: AbortSignal): Promise<WorkerRow | undefined> {
  const { database, sql, hints } = context;
  await database.query(sql.drainWorker, [id], signal);
  const [row] = await readWorkers(context, id, signal);
  if (row !== undefined) hints.announce({ workers: [id] });
  return row;
}

export async function undrainWorker(context: Context, id: number, signal: AbortSignal): Promise<WorkerRow | undefined> {
  const { database, sql, hints } = context;
  await database.query(sql.undrainWorker, [id], signal);
  const [row] = await readWorkers(context, id, signal);
  // Its waiting claim has found nothing.
  if (row !== undefined) hints.announce({ workers: [id], work: true });
  return row;
}

export async function leaveWorker({ database, sql, direct }: Context, id: number, signal: AbortSignal): Promise<void> {
  await database.query(sql.leaveWorker, [id], signal);
  direct.release(id);
}

export async function retireWorkers(
  { database, sql }: Context,
  { forgetAfterMs, silent }: RetireRequest,
  signal: AbortSignal,
): Promise<number[]> {
  const workers = silent.filter(({ jobId }) => jobId === null);
  const values = [numbers(workers.map(({ workerId }) => workerId)), numbers(workers.map(({ heardAt }) => heardAt))];
  const marked = await database.transaction(signal, (session) =>
    session.query<{ id: number }>(sql.retireWorkers, values),
  );
  await database.transaction(signal, (session) => session.query(sql.forgetWorkers, [forgetAfterMs]));
  return marked.map(({ id }) => id).sort((a, b) => a - b);
}

function reservationOf(stored: (StoredReservation & { lane: string }) | undefined): WorkerRow['reserved'] {
  if (stored === undefined) return null;
  return { jobId: stored.jobId, startsAt: stored.startsAt, resources: laneFromKey(stored.lane).resources };
}
