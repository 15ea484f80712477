/** What claims do with the places of gangs: which they accept, and which members start. */

import { Room, subtract } from './capacity.ts';
import type { Place } from './gang.ts';
import { fits, type Lane, type Offer } from './lane.ts';
import { claimLimitOf, type Outlook, offerOf, outlookOf } from './outlook.ts';
import type { WorkerRow } from './worker.ts';

/** A place; the lane is that of a member that waits. */
export type PlaceInLane = Place & { lane: Lane | null };
export type HeldPlace = Place & { lane: Lane };

/** The places of a worker whose members wait, by job. */
export function heldBy(workerId: number, places: readonly PlaceInLane[]): HeldPlace[] {
  return places
    .filter((place): place is HeldPlace => place.workerId === workerId && !place.started && place.lane !== null)
    .sort((a, b) => a.jobId - b.jobId);
}

/**
 * How many places of the lane's queue are kept for members that wait. Single jobs leave them to the members from when they are given, so
 * that no stream of single jobs keeps a gang from its start.
 */
export function keptIn({ queue }: Pick<Lane, 'queue'>, places: readonly PlaceInLane[]): number {
  return places.filter(({ workerId, started, lane }) => workerId !== null && !started && lane?.queue === queue).length;
}

/** What a claim does with the places of its worker: those that it accepts, and those whose members it starts. */
export function planPlaces(
  request: { workerId: number; limit: number; offer: Pick<Offer, 'free'> },
  places: readonly PlaceInLane[],
  left: (lane: Lane) => number,
): { accepting: number[]; starting: HeldPlace[] } {
  const fitting = fittingPlaces(heldBy(request.workerId, places), request);
  const accepting = fitting.filter(({ accepted }) => !accepted).map(({ jobId }) => jobId);
  const now = places.map((place) => ({ ...place, accepted: place.accepted || accepting.includes(place.jobId) }));
  const begun = new Set(places.filter(({ started }) => started).map(({ gangId }) => gangId));
  const ready = new Set<string>();
  for (const { gangId, lane } of fitting) {
    if (ready.has(gangId)) continue;
    // A gang of which some members run needs the queue for the others, too.
    const others = now.filter(
      (place) => ready.has(place.gangId) || (begun.has(place.gangId) && place.gangId !== gangId),
    );
    const gang = now.filter((place) => place.gangId === gangId);
    const waits = (jobId: number) => gang.some((place) => place.jobId === jobId && place.lane !== null);
    if (isReady(gang, { left: left(lane) - keptIn(lane, others), waits })) ready.add(gangId);
  }
  return { accepting, starting: fitting.filter(({ gangId }) => ready.has(gangId)) };
}

/** What the next claim of its worker does with a member; empty if it has no place at a worker that may claim. */
export function memberOutlook(
  jobId: number,
  given: { workers: readonly WorkerRow[]; places: readonly PlaceInLane[]; left: (lane: Lane) => number },
): Outlook[] {
  const place = given.places.find((own) => own.jobId === jobId && !own.started);
  const worker = given.workers.find(({ id }) => id === place?.workerId);
  if (worker === undefined || worker.state !== 'online') return [];
  const request = { workerId: worker.id, limit: claimLimitOf(worker), offer: offerOf(worker) };
  const { starting } = planPlaces(request, given.places, given.left);
  return [
    outlookOf(
      worker,
      { id: jobId, lane: null },
      {
        jobIds: starting.map((own) => own.jobId),
        closed: new Map(),
        room: new Room(worker.id, request.offer.free),
      },
    ),
  ];
}

/** True if the members can start: each has a place that its worker holds, and their queue has `left` for them. */
function isReady(
  places: readonly Place[],
  { left, waits }: { left: number; waits: (jobId: number) => boolean },
): boolean {
  const placed = places.filter(({ workerId }) => workerId !== null);
  const waiting = placed.filter(({ started }) => !started);
  if (placed.length !== placed[0]?.size || waiting.length > left) return false;
  return places.every(({ accepted }) => accepted) && waiting.every(({ jobId }) => waits(jobId));
}

/** The places among those of one worker for which its offer has room. Those that it holds already come first. */
function fittingPlaces<T extends { lane: Lane; accepted: boolean }>(
  places: readonly T[],
  { limit, offer }: { limit: number; offer: Pick<Offer, 'free'> },
): T[] {
  const free: Record<string, number> = { ...offer.free };
  const inOrder = places.toSorted((a, b) => Number(b.accepted) - Number(a.accepted));
  return inOrder.filter(({ lane }, index) => {
    const hasRoom = index < limit && fits(lane, free, 1) > 0;
    subtract(free, lane.resources);
    return hasRoom;
  });
}
