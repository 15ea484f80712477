import { type HeldPlace, heldBy, type PlaceInLane, planPlaces } from '../../../core/claim-places.ts';
import {
  type DroppedPlaces,
  type Gang,
  type GangRow,
  hostsOf,
  type IncompleteGang,
  type MemberSuccess,
  type Place,
} from '../../../core/gang.ts';
import type { ClaimedJob } from '../../../core/job.ts';
import { type Lane, laneFromKey } from '../../../core/lane.ts';
import {
  incompleteGangs as incompleteIn,
  mayHold,
  nextTerm,
  placeGangs as placeIn,
  type WaitingGang,
  type WaitingMember,
  waitingGangs,
} from '../../../core/place-gangs.ts';
import { workers } from '../../engine/workers.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { txOn } from '../base/engine.ts';
import { numbers } from '../base/values.ts';
import { type Headroom, readHeadroom } from './headroom.ts';
import { readReservations } from './reservations.ts';

/** The maximum number of members that one call reads. */
const MAX_MEMBERS = 10_000;

interface MemberRow {
  id: number;
  lane: number;
  priority: number;
  due: number;
  failures: number;
  gang: Gang;
  begun: boolean;
  now: number;
}

interface PlaceRow {
  job_id: number;
  gang_id: string;
  rank: number;
  size: number;
  worker_id: number | null;
  accepted: boolean;
  started: boolean;
  until: number;
  success: MemberSuccess | null;
  /** The lane of a member that waits. */
  lane_id: number | null;
  key: string | null;
}

/** The members that wait without a place, and the instant at which that was so. `paused`: also those of paused queues. */
async function readWaiting(
  { sql, lanes }: Context,
  session: Session,
  { paused }: { paused: boolean },
): Promise<{ waiting: WaitingMember[]; now: number }> {
  const ofGangs = lanes.all().filter(({ lane }) => lane.gang);
  if (ofGangs.length === 0) return { waiting: [], now: 0 };
  const ids = numbers(ofGangs.map(({ id }) => id));
  const rows = await session.query<MemberRow>(sql.waitingMembers, [ids, MAX_MEMBERS, paused]);
  const waiting = rows.map(({ lane, due, ...row }) => ({ ...row, dueAt: due, lane: lanes.lane(lane) as Lane }));
  return { waiting, now: rows[0]?.now ?? 0 };
}

export async function incompleteGangs(context: Context, signal: AbortSignal): Promise<IncompleteGang[]> {
  const { database, lanes } = context;
  signal.throwIfAborted();
  if (!lanes.isFresh) await lanes.refresh(signal);
  const session: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  const { waiting } = await readWaiting(context, session, { paused: true });
  return waiting.length === 0 ? [] : incompleteIn(waiting, await readPlaces(context, session));
}

/** Places are given in one transaction, under one lock: a gang has all its places or none. */
export async function placeGangs(context: Context, signal: AbortSignal): Promise<number> {
  const { database, sql, lanes, hints } = context;
  signal.throwIfAborted();
  if (!lanes.isFresh) await lanes.refresh(signal);
  const all = lanes.all();
  if (!all.some(({ lane }) => lane.gang)) return 0;
  const able = await workers(txOn(context, database.session(signal)));
  const placed = await database.transaction(signal, async (session) => {
    await session.query(sql.lockPlaces);
    const { waiting, now } = await readWaiting(context, session, { paused: false });
    if (waiting.length === 0) return [];
    const known = await readPlaces(context, session);
    const gangs = waitingGangs(waiting, known);
    if (gangs.length === 0) return [];
    const { headroom, most } = await readHeadroom(context, session, all, sql.limitedQueues);
    const left = ({ queue }: Lane) => headroom.get(queue) ?? Number.POSITIVE_INFINITY;
    const single = all.filter(({ lane }) => !lane.gang);
    const caps = numbers(single.map(() => 1));
    const silent = await session.query<{ id: number }>(sql.silentWorkers);
    const online = able.filter(({ id }) => !silent.some((worker) => worker.id === id));
    type Head = { lane: number; rank: number; due: Date };
    const heads = (await session.query<Head>(sql.laneHeads, [numbers(single.map(({ id }) => id)), caps])).map(
      ({ lane, rank, due }) => ({ lane: lanes.lane(lane) as Lane, priority: -rank, dueAt: Number(due) }),
    );
    const found = placeIn(gangs, {
      workers: online,
      places: known.filter((place): place is HeldPlace => place.lane !== null),
      reservations: (await readReservations(sql, session)).map((row) => ({ ...row, lane: laneFromKey(row.lane) })),
      now,
      left,
      most: ({ queue }) => most.get(queue) ?? Number.POSITIVE_INFINITY,
      mayHold: (gang) => mayHold(gang, heads, { workers: online, left }),
    });
    if (found.length === 0) return [];
    await session.query(sql.insertPlaces, columnsOf(found));
    await beginTerms(sql, session, gangs, found);
    return found;
  });
  if (placed.length > 0) hints.announce({ work: true });
  return placed.filter(({ workerId }) => workerId !== null).length;
}

export async function places(context: Context, signal: AbortSignal): Promise<Place[]> {
  const { database } = context;
  const session: Session = { query: (statement, values = []) => database.query(statement, values, signal) };
  return (await readPlaces(context, session)).map(({ lane: _lane, ...place }) => place);
}

async function beginTerms(
  sql: Context['sql'],
  session: Session,
  waiting: readonly WaitingGang[],
  placed: readonly Place[],
): Promise<void> {
  const begun = waiting.filter(({ gang }) => placed.some(({ gangId }) => gangId === gang.id));
  const rows = await session.query<StoredGang>(sql.gangs, [begun.map(({ gang }) => gang.id)]);
  const last = new Map(rows.map((row) => [row.id, decodeGang(row)]));
  const next = begun.map((gang) => nextTerm(gang, last.get(gang.gang.id)));
  await session.query(sql.storeGangs, [
    next.map(({ id }) => id),
    numbers(next.map(({ jobId }) => jobId)),
    numbers(next.map(({ term }) => term)),
    numbers(next.map(({ failures }) => failures)),
    numbers(next.map(({ charged }) => charged)),
    numbers(next.map(({ stops }) => stops)),
  ]);
}

interface StoredGang extends Omit<GangRow, 'jobId'> {
  job_id: number;
}

function decodeGang({ job_id, ...row }: StoredGang): GangRow {
  return { ...row, jobId: job_id };
}

export async function gangs(
  { database, sql }: Context,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<GangRow[]> {
  return (await database.query<StoredGang>(sql.gangs, [ids], signal)).map(decodeGang);
}

export async function stopGang(
  { database, sql }: Context,
  id: string,
  term: number,
  signal: AbortSignal,
): Promise<boolean> {
  return await database.transaction(signal, async (session) => {
    await session.query(sql.lockPlaces);
    const [stopped] = await session.query(sql.stopGang, [id, term]);
    if (stopped !== undefined) await session.query(sql.closePlaces, [id]);
    return stopped !== undefined;
  });
}

export async function dropPlaces(
  { database, sql, hints }: Context,
  dropped: readonly DroppedPlaces[],
  signal: AbortSignal,
): Promise<void> {
  const ids = dropped.map(({ gangId }) => gangId);
  const columns = [ids, numbers(dropped.map(({ term }) => term)), dropped.map(({ unlessStarted }) => unlessStarted)];
  await database.transaction(signal, async (session) => {
    await session.query(sql.lockPlaces);
    await session.query(sql.dropPlaces, columns);
  });
  hints.announce({ work: true });
}

/**
 * Accepts the places that the offer has room for. Returns those of members that can start. `queues`: those that the claim has looked at, and has
 * locked if they are limited. If the worker has got a place in another one since, the next claim accepts.
 */
export async function acceptPlaces(
  context: Context,
  session: Session,
  request: ClaimRequest,
  { queues, headroom }: { queues: ReadonlySet<string>; headroom: Headroom },
): Promise<HeldPlace[]> {
  const { sql, hints } = context;
  // Two workers that accept the last two places must see each other.
  await session.query(sql.lockPlaces);
  const all = await readPlaces(context, session);
  if (heldBy(request.workerId, all).some(({ lane }) => !queues.has(lane.queue))) return [];
  const left = ({ queue }: Lane) => headroom.get(queue) ?? Number.POSITIVE_INFINITY;
  const { accepting, starting } = planPlaces(request, all, left);
  if (accepting.length > 0) {
    const accepted = await session.query(sql.acceptPlaces, [numbers(accepting), request.workerId]);
    if (accepted.length === 0) return [];
    hints.announce({ work: true });
  }
  return starting;
}

/** Tells members the addresses of their gang. */
export async function tellHosts({ database, sql }: Context, jobs: readonly ClaimedJob[], signal: AbortSignal) {
  const ids = [...new Set(jobs.flatMap(({ gang }) => (gang === null ? [] : [gang.id])))];
  if (ids.length === 0) return;
  type Row = { gang_id: string; rank: number; host: string };
  const rows = await database.query<Row>(sql.gangHosts, [ids], signal);
  const byGang = Map.groupBy(rows, ({ gang_id }) => gang_id);
  for (const job of jobs) {
    if (job.gang !== null) job.gangContext = { hosts: hostsOf(job.gang, byGang.get(job.gang.id) ?? []) };
  }
}

function columnsOf(all: readonly Place[]): unknown[] {
  return [
    numbers(all.map(({ jobId }) => jobId)),
    all.map(({ gangId }) => gangId),
    numbers(all.map(({ rank }) => rank)),
    numbers(all.map(({ size }) => size)),
    numbers(all.map(({ workerId }) => workerId)),
    numbers(all.map(({ until }) => until)),
  ];
}

export async function readPlaces({ sql, lanes }: Context, session: Session): Promise<PlaceInLane[]> {
  return (await session.query<PlaceRow>(sql.places)).map((row) => ({
    jobId: row.job_id,
    gangId: row.gang_id,
    rank: row.rank,
    size: row.size,
    workerId: row.worker_id,
    accepted: row.accepted,
    started: row.started,
    until: row.until,
    success: row.success,
    lane: row.lane_id === null || row.key === null ? null : lanes.learn(row.lane_id, row.key),
  }));
}
