/** Workers: registered, drained, and forgotten once they are gone. */

import { usedBy } from '../../core/capacity.ts';
import { laneFromKey } from '../../core/lane.ts';
import type { NewWorker, WorkerRow } from '../../core/worker.ts';
import type { RetireRequest } from '../duty-store.ts';
import { columns } from '../sql/columns.ts';
import { after, anyFrom, anyOf, type Fragment, now, raw, type Spelling, sql } from '../sql/sql.ts';
import { type Done, inTurn, many, one, type Stages, staged, type Tx } from '../sql/tx.ts';
import { reservations } from './reservations.ts';
import { fromHeld } from './standing.ts';

type Stored = Pick<
  WorkerRow,
  'id' | 'name' | 'state' | 'attachment' | 'instanceId' | 'leaseMs' | 'registeredAt' | 'seenAt'
> & {
  /** The properties that have no column. `draining` outlives an offline worker that comes back. */
  profile: Omit<NewWorker, 'name' | 'attachment' | 'instanceId' | 'leaseMs'> & { draining?: true };
};

const stored = columns<Stored>({
  id: 'int',
  name: 'text',
  state: 'text',
  attachment: 'text',
  instanceId: 'text',
  leaseMs: 'bigint',
  registeredAt: 'instant',
  seenAt: 'instant',
  profile: 'json',
});
const listed = stored.with<Stored & { running: number }>({ running: 'bigint' });
const heldLane = columns<{ workerId: number; key: string; count: number }>({
  workerId: 'int',
  key: 'text',
  count: 'bigint',
});
const counted = columns<{ count: number }>({ count: 'bigint' });
const idRow = columns<{ id: number }>({ id: 'int' });

/** True if worker `w` holds no job. */
const holdsNothing = sql`not exists (select 1 ${fromHeld(sql`= w.id`)})`;

async function registerWorker(tx: Tx, wanted: NewWorker): Promise<WorkerRow> {
  return await addWorker(tx, wanted);
}

/** `id`: where the database does not give one. */
export async function addWorker(tx: Tx, wanted: NewWorker, id?: number): Promise<WorkerRow> {
  const { name, attachment, instanceId, leaseMs, ...profile } = wanted;
  const values = { id, name, attachment, instanceId, leaseMs, profile, state: 'online' } as const;
  const added = await tx.get(
    idRow,
    sql`insert into worker ${stored.values({ ...values, registeredAt: now, seenAt: now })} returning id`,
  );
  const row = added && (await worker(tx, added.id));
  if (row === undefined) throw new Error(`worker ${name} is gone as soon as it was registered`);
  return row;
}

async function limitWorkers(stages: Stages, max: number): Promise<number> {
  const count = async () => (await stages.tx.get(counted, sql`select count(*) as count from worker`))?.count ?? 0;
  const before = await count();
  if (before <= max) return before;
  const idle = sql`select w.id from worker w where w.state = 'offline' and ${holdsNothing}
    order by w.seen_at, w.id limit ${before - max}`;
  await stages.write((tx) => tx.run(sql`delete from worker where id ${anyFrom(idle)}`));
  return await count();
}

async function countWorkersOf(tx: Tx, registeredBy: string): Promise<number> {
  const isOfCaller = sql`state <> 'offline' and profile ->> 'registeredBy' = ${registeredBy}`;
  return (await tx.get(counted, sql`select count(*) as count from worker where ${isOfCaller}`))?.count ?? 0;
}

export function workers(tx: Tx): Promise<WorkerRow[]> {
  return readWorkers(tx, sql`true`);
}

/** Those that may claim: online, and their leases are not over. */
export async function claimingWorkers(tx: Tx): Promise<WorkerRow[]> {
  const all = await workers(tx);
  const now = await tx.instant();
  return all.filter(({ state, seenAt, leaseMs }) => state === 'online' && seenAt + leaseMs >= now);
}

async function worker(tx: Tx, id: number): Promise<WorkerRow | undefined> {
  return (await readWorkers(tx, sql`w.id = ${id}`))[0];
}

async function readWorkers(tx: Tx, isAsked: Fragment): Promise<WorkerRow[]> {
  const rows = await tx.all(
    listed,
    sql`select ${stored.of('w')}, (select count(distinct l.job_id) ${fromHeld(sql`= w.id`)}) as running
      from worker w where ${isAsked} order by w.id`,
  );
  if (rows.length === 0) return [];
  const held = await tx.all(
    heldLane,
    sql`select h.worker_id, n.key, count(*) as count
      from (select distinct l.job_id, l.worker_id, l.lane ${fromHeld(sql`${anyOf(rows.map(({ id }) => id))}`)}) h
        join lane n on n.id = h.lane
      group by 1, 2`,
  );
  const lanes = Map.groupBy(held, ({ workerId }) => workerId);
  const reserved = new Map((await reservations(tx)).map((row) => [row.workerId, row]));
  return rows.map(({ profile: { draining: _draining, ...profile }, ...row }) => {
    const uses = lanes.get(row.id)?.map(({ key, count }) => ({ ...laneFromKey(key), count })) ?? [];
    const { jobId, startsAt, key } = reserved.get(row.id) ?? {};
    const held = key === undefined ? null : { jobId, startsAt, resources: laneFromKey(key).resources };
    return { ...profile, ...row, used: usedBy(uses), reserved: held } as WorkerRow;
  });
}

const withDraining: Spelling = (dialect) =>
  raw(dialect === 'postgres' ? `profile || '{"draining": true}'` : `json_set(profile, '$.draining', json('true'))`);
const withoutDraining: Spelling = (dialect) =>
  raw(dialect === 'postgres' ? `profile - 'draining'` : `json_remove(profile, '$.draining')`);

async function drainWorker(tx: Tx, id: number): Promise<undefined | Done<undefined>> {
  const drained = await tx.run(sql`update worker set profile = ${withDraining},
    state = case when state = 'online' then 'draining' else state end where id = ${id}`);
  if (drained === 0) return { answer: undefined };
  tx.effects.changedWorker(id);
}

async function undrainWorker(tx: Tx, id: number): Promise<undefined | Done<undefined>> {
  const undrained = await tx.run(sql`update worker set profile = ${withoutDraining},
    state = case when state = 'draining' then 'online' else state end where id = ${id}`);
  if (undrained === 0) return { answer: undefined };
  tx.effects.changedWorker(id);
  // Its waiting claim has found nothing.
  tx.effects.madeRoom();
}

export async function leaveWorker(tx: Tx, id: number): Promise<void> {
  await tx.run(sql`update worker set state = 'offline' where id = ${id}`);
}

/** What is left of the claims of offline and deleted workers, on PostgreSQL. */
const withoutClaims: Spelling = (dialect) =>
  dialect === 'postgres'
    ? sql`with ended as (
        delete from claim e where not exists (select 1 from worker w where w.id = e.worker_id and w.state <> 'offline')
          and not exists (select 1 ${fromHeld(sql`= e.worker_id`)} and c.id = e.id))`
    : sql``;

async function retireWorkers(tx: Tx, { forgetAfterMs, silent }: RetireRequest): Promise<number[]> {
  const leases = silent
    .filter(({ jobId }) => jobId === null)
    .map(({ workerId, heardAt }) => ({ id: workerId, seenAt: heardAt }));
  const marked =
    leases.length === 0
      ? []
      : await tx.all(
          idRow,
          sql`update worker set state = 'offline' where state <> 'offline' and (id, seen_at) in ${stored.input(leases)} returning id`,
        );
  await tx.run(sql`delete from reservation
    where not exists (select 1 from worker w where w.id = reservation.worker_id and w.state <> 'offline')`);
  await tx.run(sql`${withoutClaims}
    delete from worker as w where w.state = 'offline' and w.seen_at < ${after(now, -forgetAfterMs)} and ${holdsNothing}`);
  return marked.map(({ id }) => id).sort((a, b) => a - b);
}

export const workerMethods = {
  registerWorker: many('write', registerWorker),
  limitWorkers: staged('write', limitWorkers),
  countWorkersOf: one('read', countWorkersOf),
  workers: many('read', workers),
  worker: many('urgent', worker),
  drainWorker: inTurn(one('write', drainWorker), many('urgent', worker)),
  undrainWorker: inTurn(one('write', undrainWorker), many('urgent', worker)),
  leaveWorker: one('write', leaveWorker),
  retireWorkers: many('write', retireWorkers),
};
