import { type HeldPlace, heldBy, type PlaceInLane, planPlaces } from '../../../core/claim-places.ts';
import {
  type DroppedPlaces,
  type Gang,
  type GangRow,
  hostsOf,
  type IncompleteGang,
  type Place,
} from '../../../core/gang.ts';
import { type Lane, laneFromKey } from '../../../core/lane.ts';
import {
  incompleteGangs as incompleteIn,
  mayHold,
  nextTerm,
  placeGangs as placeIn,
  waitingGangs,
} from '../../../core/place-gangs.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Entry } from '../base/entry.ts';
import { mayClaim, type Tables } from '../base/tables.ts';
import { workers } from '../cluster/workers.ts';
import { Headroom, validReservations } from './claim.ts';

export function placeGangs(tables: Tables): number {
  const gangs = waitingGangs(waitingMembers(tables, { paused: false }), places(tables));
  if (gangs.length === 0) return 0;
  const able = workers(tables).filter(({ id }) => mayClaim(tables, tables.workers.get(id)));
  const headroom = new Headroom(tables);
  const heads = [...tables.live.lanes()].map(({ lane, line }) => ({ lane, ...orderOf(line.peek() as Entry) }));
  const left = ({ queue }: Lane) => headroom.left(queue);
  const placed = placeIn(gangs, {
    workers: able,
    places: allPlaces(tables).filter((place): place is HeldPlace => place.lane !== null),
    reservations: validReservations(tables).map((row) => {
      const entry = tables.jobs.get(row.jobId) as Entry;
      return { ...row, lane: laneFromKey(entry.lane), priority: entry.spec.priority };
    }),
    now: tables.clock.now(),
    left,
    most: ({ queue }) => headroom.most(queue),
    mayHold: (gang) => mayHold(gang, heads, { workers: able, left }),
  });
  for (const place of placed) tables.places.set(place.jobId, place);
  for (const gang of gangs) {
    if (!placed.some(({ gangId }) => gangId === gang.gang.id)) continue;
    tables.gangs.set(gang.gang.id, nextTerm(gang, tables.gangs.get(gang.gang.id)));
  }
  if (placed.length > 0) tables.changes.madeWork();
  return placed.filter(({ workerId }) => workerId !== null).length;
}

export function incompleteGangs(tables: Tables): IncompleteGang[] {
  return incompleteIn(waitingMembers(tables, { paused: true }), places(tables));
}

export function places(tables: Tables): Place[] {
  return [...tables.places.values()]
    .map((place) => ({ ...place }))
    .sort((a, b) => (a.gangId === b.gangId ? a.rank - b.rank : a.gangId < b.gangId ? -1 : 1));
}

export function gangs(tables: Tables, ids: readonly string[]): GangRow[] {
  const rows = [...new Set(ids)].sort().map((id) => tables.gangs.get(id));
  return rows.flatMap((row) => (row === undefined ? [] : [{ ...row }]));
}

export function stopGang(tables: Tables, id: string, term: number): boolean {
  const row = tables.gangs.get(id);
  if (row === undefined || row.term !== term || row.stopping) return false;
  Object.assign(row, { stopping: true, stops: row.stops + 1 });
  for (const place of placesOf(tables, id)) place.started = true;
  return true;
}

export function dropPlaces(tables: Tables, dropped: readonly DroppedPlaces[]): void {
  for (const { gangId, term, unlessStarted } of dropped) {
    const own = placesOf(tables, gangId);
    if (tables.gangs.get(gangId)?.term !== term || (unlessStarted && own.some(({ started }) => started))) continue;
    for (const { jobId } of own) tables.places.delete(jobId);
  }
  tables.changes.madeWork();
}

function placesOf(tables: Tables, id: string): Place[] {
  return [...tables.places.values()].filter(({ gangId }) => gangId === id);
}

/** The places that a worker holds for members that wait, by job. */
export function heldPlaces(tables: Tables, workerId: number): HeldPlace[] {
  return heldBy(workerId, allPlaces(tables));
}

export function allPlaces(tables: Tables): PlaceInLane[] {
  return places(tables).map((place) => {
    const entry = tables.jobs.get(place.jobId);
    return { ...place, lane: entry?.status === 'pending' ? laneFromKey(entry.lane) : null };
  });
}

/** Accepts the places that the offer has room for. Returns the members that can start. */
export function startPlaced(tables: Tables, request: ClaimRequest): Entry[] {
  const headroom = new Headroom(tables);
  const { accepting, starting } = planPlaces(request, allPlaces(tables), ({ queue }) => headroom.left(queue));
  for (const jobId of accepting) (tables.places.get(jobId) as Place).accepted = true;
  if (accepting.length > 0) tables.changes.madeWork();
  return starting.map(({ jobId }) => {
    (tables.places.get(jobId) as Place).started = true;
    return tables.jobs.get(jobId) as Entry;
  });
}

export function gangHosts(tables: Tables, gang: Gang): string[] {
  const hosts = placesOf(tables, gang.id).flatMap(({ rank, workerId }) => {
    if (workerId === null) return [];
    const profile = tables.workers.get(workerId)?.profile;
    return { rank, host: profile?.address ?? profile?.host ?? '' };
  });
  return hostsOf(gang, hosts);
}

/** The members that wait without a place. `paused`: also those of paused queues. */
function waitingMembers(tables: Tables, { paused }: { paused: boolean }) {
  const isOpen = (queue: string) => paused || tables.queues.get(queue)?.pausedAt == null;
  const lines = [...tables.live.lanes()].filter(({ lane }) => lane.gang && isOpen(lane.queue));
  return lines.flatMap(({ lane, line }) =>
    [...line.values()]
      .filter(({ id }) => !tables.places.has(id))
      .map((entry) => {
        const { id, attempt, counters, spec } = entry;
        const gang = spec.gang as Gang;
        const begun = attempt > 0 || tables.gangs.has(gang.id);
        return { id, begun, lane, failures: counters.failures, gang, ...orderOf(entry) };
      }),
  );
}

function orderOf({ spec, dueAt }: Entry): { priority: number; dueAt: number } {
  return { priority: spec.priority, dueAt };
}
