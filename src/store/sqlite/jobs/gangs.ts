import { type HeldPlace, type PlaceInLane, planPlaces } from '../../../core/claim-places.ts';
import type { DroppedPlaces, Gang, GangRow, IncompleteGang, MemberSuccess, Place } from '../../../core/gang.ts';
import type { Lane } from '../../../core/lane.ts';
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
import { txOn } from '../base/engine.ts';
import { sql } from '../base/sql.ts';
import type { WorkerState } from './claim.ts';
import { Headroom } from './headroom.ts';
import { reservations } from './reservations.ts';

/** The maximum number of members that one call reads. */
const MAX_MEMBERS = 10_000;

interface MemberRow {
  id: number;
  lane: number;
  priority: number;
  due: number;
  failures: number;
  gang: string;
  begun: number;
}

interface PlaceRow {
  job_id: number;
  gang_id: string;
  rank: number;
  size: number;
  worker_id: number | null;
  accepted: number;
  started: number;
  until: number;
  success: string | null;
  /** Of a member that waits. */
  lane: number | null;
}

interface StoredGang extends Omit<GangRow, 'jobId' | 'stopping'> {
  job_id: number;
  stopping: number;
}

/** The members that wait without a place. `paused`: also those of paused queues. */
function waitingMembers({ database, lanes }: Context, { paused }: { paused: boolean }): WaitingMember[] {
  const rows = database.all<MemberRow>(sql.waitingMembers, MAX_MEMBERS, paused ? 1 : 0);
  return rows.map(({ lane, due, gang, begun, ...row }) => {
    return { ...row, gang: JSON.parse(gang) as Gang, dueAt: due, lane: lanes.laneOf(lane), begun: begun === 1 };
  });
}

export function incompleteGangs(context: Context): IncompleteGang[] {
  const waiting = waitingMembers(context, { paused: true });
  return waiting.length === 0 ? [] : incompleteIn(waiting, readPlaces(context));
}

export async function placeGangs(context: Context): Promise<number> {
  const { database, lanes, now, effects } = context;
  const waiting = waitingMembers(context, { paused: false });
  if (waiting.length === 0) return 0;
  const places = readPlaces(context);
  const gangs = waitingGangs(waiting, places);
  if (gangs.length === 0) return 0;
  const headroom = new Headroom(context);
  const able = (await workers(txOn(context))).filter(({ id }) => {
    return !database.get<WorkerState>(sql.workerState, id, now)?.silent;
  });
  const heads = database
    .tuples<[lane: number, rank: number, turn: number, due: number, jobId: number]>(sql.allHeads)
    .map(([lane, rank, , due]) => ({ lane: lanes.laneOf(lane), priority: -rank, dueAt: due }));
  const left = ({ queue }: Lane) => headroom.left(queue);
  const placed = placeIn(gangs, {
    workers: able,
    places: places.filter((place): place is HeldPlace => place.lane !== null),
    reservations: reservations(context).map((row) => ({ ...row, lane: lanes.laneOf(row.lane) })),
    now,
    left,
    most: ({ queue }) => headroom.most(queue),
    mayHold: (gang) => mayHold(gang, heads, { workers: able, left }),
  });
  for (const { jobId, gangId, rank, size, workerId, until } of placed) {
    database.run(sql.insertPlaces, jobId, gangId, rank, size, workerId, until);
  }
  if (placed.length === 0) return 0;
  beginTerms(context, gangs, placed);
  effects.madeWork();
  return placed.filter(({ workerId }) => workerId !== null).length;
}

export function places(context: Context): Place[] {
  return readPlaces(context).map(({ lane: _lane, ...place }) => place);
}

function beginTerms(context: Context, waiting: readonly WaitingGang[], placed: readonly Place[]): void {
  const begun = waiting.filter(({ gang }) => placed.some(({ gangId }) => gangId === gang.id));
  const ids = begun.map(({ gang }) => gang.id);
  const last = new Map(gangs(context, ids).map((row) => [row.id, row]));
  for (const gang of begun) {
    const { id, jobId, term, failures, charged, stops } = nextTerm(gang, last.get(gang.gang.id));
    context.database.run(sql.storeGangs, id, jobId, term, failures, charged, stops);
  }
}

export function gangs({ database }: Context, ids: readonly string[]): GangRow[] {
  const rows = database.all<StoredGang>(sql.gangs, JSON.stringify(ids));
  return rows.map(({ job_id, stopping, ...row }) => ({ ...row, jobId: job_id, stopping: stopping === 1 }));
}

export function stopGang({ database }: Context, id: string, term: number): boolean {
  if (database.get(sql.stopGang, id, term) === undefined) return false;
  database.run(sql.closePlaces, id);
  return true;
}

export function dropPlaces({ database, effects }: Context, dropped: readonly DroppedPlaces[]): void {
  for (const { gangId, term, unlessStarted } of dropped) {
    database.run(sql.dropPlaces, gangId, term, unlessStarted ? 1 : 0);
  }
  effects.madeWork();
}

/** Accepts the places that the offer has room for. Returns the members that can start. */
export function startPlaced(context: Context, request: ClaimRequest, places: readonly PlaceInLane[]): HeldPlace[] {
  const { database, effects } = context;
  const headroom = new Headroom(context);
  const { accepting, starting } = planPlaces(request, places, ({ queue }) => headroom.left(queue));
  if (accepting.length > 0) {
    database.run(sql.acceptPlaces, JSON.stringify(accepting));
    effects.madeWork();
  }
  const ids = starting.map(({ jobId }) => jobId);
  if (ids.length > 0) database.run(sql.startPlaces, JSON.stringify(ids));
  return starting;
}

/** The hosts of each of these gangs. */
export type HostsByGang = Record<string, { rank: number; host: string }[]>;

export function gangHosts({ database }: Context, gangIds: readonly string[]): HostsByGang {
  const rows = database.all<{ gang_id: string; rank: number; host: string }>(sql.gangHosts, JSON.stringify(gangIds));
  return Object.fromEntries(Map.groupBy(rows, ({ gang_id }) => gang_id));
}

export function readPlaces({ database, lanes }: Context): PlaceInLane[] {
  return database.all<PlaceRow>(sql.places).map((row) => ({
    jobId: row.job_id,
    gangId: row.gang_id,
    rank: row.rank,
    size: row.size,
    workerId: row.worker_id,
    accepted: row.accepted === 1,
    started: row.started === 1,
    until: row.until,
    success: row.success === null ? null : (JSON.parse(row.success) as MemberSuccess),
    lane: row.lane === null ? null : lanes.laneOf(row.lane),
  }));
}
