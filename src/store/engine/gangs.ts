/** Gangs and the places of their members. */

import { type HeldPlace, type PlaceInLane, planPlaces } from '../../core/claim-places.ts';
import type { DroppedPlaces, GangRow, IncompleteGang, Place } from '../../core/gang.ts';
import { type Lane, laneFromKey } from '../../core/lane.ts';
import {
  incompleteGangs as incompleteIn,
  mayHold,
  nextTerm,
  placeGangs as placeIn,
  type WaitingGang,
  type WaitingMember,
  waitingGangs,
} from '../../core/place-gangs.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { ClaimRequest } from '../job-store.ts';
import { columns } from '../sql/columns.ts';
import { after, anyFrom, anyOf, now, spelled, sql } from '../sql/sql.ts';
import { many, one, type Stages, staged, type Tx } from '../sql/tx.ts';
import { leftIn, readHeadroom } from './headroom.ts';
import { reservations } from './reservations.ts';
import { isPending, lookedUp } from './standing.ts';
import { workers } from './workers.ts';

/** The maximum number of members that one call reads. */
const MAX_MEMBERS = 10_000;

const member = columns<Omit<WaitingMember, 'lane'> & { key: string; now: number }>({
  id: 'bigint',
  priority: 'int',
  dueAt: 'instant',
  failures: 'int',
  gang: 'json',
  begun: 'bool',
  key: 'text',
  now: 'instant',
});
const place = columns<Place>({
  jobId: 'bigint',
  gangId: 'text',
  rank: 'int',
  size: 'int',
  workerId: 'int',
  accepted: 'bool',
  started: 'bool',
  until: 'instant',
  success: 'json',
});
/** A row of `allPlaces`. The lane is that of a member that waits. */
export const placeRow = place.with<Place & { lane: number | null; key: string | null }>({ lane: 'int', key: 'text' });
const gangRow = columns<GangRow>({
  id: 'text',
  jobId: 'bigint',
  term: 'int',
  failures: 'int',
  charged: 'int',
  stops: 'int',
  stopping: 'bool',
});
const droppedRow = columns<DroppedPlaces>({ gangId: 'text', term: 'int', unlessStarted: 'bool' });
const headRow = columns<{ key: string; rank: number; due: number }>({ key: 'text', rank: 'int', due: 'instant' });
const hostRow = columns<{ gangId: string; rank: number; host: string }>({ gangId: 'text', rank: 'int', host: 'text' });

/** The members that wait without a place, and the instant at which that was so. `paused`: also those of paused queues. */
async function readWaiting(
  tx: Tx,
  { paused }: { paused: boolean },
): Promise<{ waiting: WaitingMember[]; now: number }> {
  const isOpen = paused
    ? sql`true`
    : sql`not exists (select 1 from queue q where q.name = n.queue and q.paused_at is not null)`;
  const rows = await tx.all(
    member,
    sql`select m.*, m.attempt > 0 or exists (select 1 from gang g where g.id = m.gang ->> 'id') as begun, n.key, ${now} as now
      from (
        select l.job_id as id, l.lane, -l.rank as priority, l.due as due_at, coalesce(l.failures, 0) as failures, l.attempt,
          (select j.spec -> 'gang' from job j where j.id = l.job_id) as gang
        from live l where l.lane ${anyFrom(sql`select id from lane where gang`)} and ${isPending('l')}
          and not exists (select 1 from place p where p.job_id = l.job_id ${lookedUp})) m
        join lane n on n.id = m.lane
      where ${isOpen} order by m.priority desc, m.due_at, m.id limit ${MAX_MEMBERS}`,
  );
  const waiting = rows.map(({ key, now: _now, ...row }) => ({ ...row, lane: laneFromKey(key) }));
  return { waiting, now: rows[0]?.now ?? 0 };
}

export const allPlaces = sql`select ${place.of('p')}, p.lane, n.key from (
    select ${place}, (select l.lane from live l where l.job_id = place.job_id and ${isPending('l')}) as lane from place) p
    left join lane n on n.id = p.lane
  order by p.gang_id, p.rank`;

export async function readPlaces(tx: Tx): Promise<PlaceInLane[]> {
  return (await tx.all(placeRow, allPlaces)).map(({ key, ...row }) => ({
    ...row,
    lane: key === null ? null : laneFromKey(key),
  }));
}

async function places(tx: Tx): Promise<Place[]> {
  return (await readPlaces(tx)).map(({ lane: _lane, ...row }) => row);
}

async function incompleteGangs(tx: Tx): Promise<IncompleteGang[]> {
  const { waiting } = await readWaiting(tx, { paused: true });
  return waiting.length === 0 ? [] : incompleteIn(waiting, await readPlaces(tx));
}

/** Places are given in one transaction, under one lock: a gang has all its places or none. */
async function placeGangs(stages: Stages): Promise<number> {
  if ((await readWaiting(stages.tx, { paused: false })).waiting.length === 0) return 0;
  const known = await workers(stages.tx);
  return await stages.write((tx) => placeWaiting(tx, known));
}

async function placeWaiting(tx: Tx, known: readonly WorkerRow[]): Promise<number> {
  await tx.lockTable('place');
  const { waiting, now } = await readWaiting(tx, { paused: false });
  if (waiting.length === 0) return 0;
  const given = await readPlaces(tx);
  const gangs = waitingGangs(waiting, given);
  if (gangs.length === 0) return 0;
  const heads = await firstJobs(tx);
  const queues = new Set([...heads, ...gangs].map(({ lane }) => lane.queue));
  const { headroom, most } = await readHeadroom(tx, [...queues]);
  const left = leftIn(headroom);
  const able = known.filter(({ seenAt, leaseMs }) => seenAt + leaseMs >= now);
  const placed = placeIn(gangs, {
    workers: able,
    places: given.filter((row): row is HeldPlace => row.lane !== null),
    reservations: await reservations(tx),
    now,
    left,
    most: leftIn(most),
    mayHold: (gang) => mayHold(gang, heads, { workers: able, left }),
  });
  if (placed.length === 0) return 0;
  await tx.run(sql`insert into place ${place.rows(placed)}`);
  await beginTerms(tx, gangs, placed);
  tx.effects.madeWork();
  return placed.filter(({ workerId }) => workerId !== null).length;
}

/** The most urgent job of each lane that is not of gangs. */
async function firstJobs(tx: Tx) {
  const first = sql`from live f where f.lane = n.id and ${isPending('f')} order by f.rank, f.turn, f.due, f.job_id limit 1`;
  const itsFirst = spelled({
    sqlite: sql`join live l on l.job_id = (select f.job_id ${first})`,
    postgres: sql`cross join lateral (select f.rank, f.due ${first}) l`,
  });
  const rows = await tx.all(headRow, sql`select n.key, l.rank, l.due from lane n ${itsFirst} where not n.gang`);
  return rows.map(({ key, rank, due }) => ({ lane: laneFromKey(key), priority: -rank, dueAt: due }));
}

async function beginTerms(tx: Tx, waiting: readonly WaitingGang[], placed: readonly Place[]): Promise<void> {
  const begun = waiting.filter(({ gang }) => placed.some(({ gangId }) => gangId === gang.id));
  const ids = begun.map(({ gang }) => gang.id);
  const last = new Map((await gangs(tx, ids)).map((row) => [row.id, row]));
  const next = begun.map((gang) => nextTerm(gang, last.get(gang.gang.id)));
  await tx.run(sql`insert into gang ${gangRow.rows(next)}
    on conflict (id) do update set job_id = excluded.job_id, term = excluded.term, failures = excluded.failures,
      charged = excluded.charged, stops = excluded.stops, stopping = excluded.stopping`);
}

function gangs(tx: Tx, ids: readonly string[]): Promise<GangRow[]> {
  return tx.all(gangRow, sql`select ${gangRow} from gang where id ${anyOf(ids, 'text')} order by id`);
}

async function stopGang(tx: Tx, id: string, term: number): Promise<boolean> {
  await tx.lockTable('place');
  const stopped = await tx.run(sql`update gang set stopping = true, stops = stops + 1
    where id = ${id} and term = ${term} and not stopping`);
  if (stopped > 0) await tx.run(sql`update place set started = true where gang_id = ${id}`);
  return stopped > 0;
}

async function dropPlaces(tx: Tx, dropped: readonly DroppedPlaces[]): Promise<void> {
  if (dropped.length === 0) return;
  await tx.lockTable('place');
  await tx.run(sql`delete from place where exists (
    select 1 from ${droppedRow.input(dropped)} i join gang g on g.id = i.gang_id and g.term = i.term
    where i.gang_id = place.gang_id
      and not (i.unless_started and exists (select 1 from place o where o.gang_id = i.gang_id and o.started)))`);
  tx.effects.madeWork();
}

/** Accepts the places that the offer has room for. Returns those of members that can start. */
export async function acceptPlaces(
  tx: Tx,
  request: ClaimRequest,
  { places, left }: { places: readonly PlaceInLane[]; left: (lane: Lane) => number },
): Promise<HeldPlace[]> {
  const { accepting, starting } = planPlaces(request, places, left);
  if (accepting.length === 0) return starting;
  // One that is silent or drains accepts nothing.
  const mayClaim = sql`exists (select 1 from worker w where w.id = ${request.workerId} and w.state = 'online'
    and ${after(sql`w.seen_at`, sql`w.lease_ms`)} >= ${now})`;
  const accepted = await tx.run(sql`update place set accepted = true where job_id ${anyOf(accepting)} and ${mayClaim}`);
  if (accepted === 0) return [];
  tx.effects.madeWork();
  return starting;
}

/** Records that members have started. */
export async function startPlaces(tx: Tx, jobIds: readonly number[]): Promise<void> {
  if (jobIds.length > 0) await tx.run(sql`update place set started = true where job_id ${anyOf(jobIds)}`);
}

/** The addresses of the workers of each of these gangs, by rank. */
export type HostsByGang = Readonly<Record<string, readonly { rank: number; host: string }[]>>;

export async function gangHosts(tx: Tx, ids: readonly string[]): Promise<HostsByGang> {
  const rows = await tx.all(
    hostRow,
    sql`select p.gang_id, p.rank, coalesce(w.profile ->> 'address', w.profile ->> 'host', '') as host
      from place p left join worker w on w.id = p.worker_id
      where p.gang_id ${anyOf(ids, 'text')} and p.worker_id is not null order by p.gang_id, p.rank`,
  );
  return Object.fromEntries(Map.groupBy(rows, ({ gangId }) => gangId));
}

export const gangMethods = {
  placeGangs: staged('write', placeGangs),
  incompleteGangs: many('urgent', incompleteGangs),
  places: one('urgent', places),
  gangs: one('urgent', gangs),
  stopGang: many('write', stopGang),
  dropPlaces: many('write', dropPlaces),
};
