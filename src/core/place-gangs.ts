/** Which workers the members of gangs get their places at, and when the members may start. */

import { Room, type StoredReservation } from './capacity.ts';
import type { Gang, GangRow, IncompleteGang, Place } from './gang.ts';
import { fits, type Lane, type Offer, serves } from './lane.ts';
import { claimLimitOf, couldRun, type Outlook, offerOf, outlookOf } from './outlook.ts';
import type { WorkerRow } from './worker.ts';

/** Members of a gang that wait, and can only start together. */
export interface WaitingGang {
  gang: Gang;
  priority: number;
  dueAt: number;
  lane: Lane;
  /** By rank. They are all members of the gang, unless some of them have ended before, and go on without the others. */
  members: readonly { id: number; rank: number }[];
  /** The failures of these members together. */
  failures: number;
}

/** The room of a worker for members of gangs. */
interface Site {
  worker: WorkerRow;
  slots: number;
  free: Record<string, number>;
}

/**
 * Gives places to gangs, the most urgent first. A gang that fits into what is free is placed there. The first that would fit if the workers were
 * idle is placed too, if `mayHold` and no gang waits for its places yet: what becomes free there is held for it.
 */
export function placeGangs(
  gangs: readonly WaitingGang[],
  given: {
    workers: readonly WorkerRow[];
    places: readonly (Place & { lane: Lane })[];
    reservations: readonly (StoredReservation & { lane: Lane; priority: number })[];
    now: number;
    /** How many more jobs of the lane's queue may run. */
    left: (lane: Lane) => number;
    mayHold: (gang: WaitingGang) => boolean;
  },
): Place[] {
  const placed: Place[] = [];
  const taken: { workerId: number | null; lane: Lane }[] = given.places.filter(({ started }) => !started);
  let isHolding = given.places.some(({ accepted }) => !accepted);
  for (const gang of gangs) {
    const { queue } = gang.lane;
    const promised = taken.filter(({ workerId, lane }) => workerId !== null && lane.queue === queue).length;
    const [least, most] = [leastOf(gang), Math.min(gang.members.length, given.left(gang.lane) - promised)];
    if (most < least) continue;
    const able = given.workers.filter(({ state }) => state === 'online');
    const reserved = given.reservations.filter(({ priority }) => priority >= gang.priority);
    const free = able.map((worker) => siteOf(worker, [...taken, ...reserved]));
    let found = assign(gang, free, { least, most });
    // What was given in this round is not held yet, and must not be waited for.
    if (found === undefined && !isHolding && placed.length === 0 && given.mayHold(gang)) {
      // The fewer places it waits for, the sooner it starts.
      found = assign(gang, able.map(idleSite), { least, most: least });
      isHolding = found !== undefined;
    }
    if (found === undefined) continue;
    const until = given.now + gang.gang.timeoutMs;
    for (const [index, { id: jobId, rank }] of gang.members.entries()) {
      const workerId = found[index] ?? null;
      const own = { jobId, gangId: gang.gang.id, rank, size: found.length, workerId, accepted: workerId === null };
      placed.push({ ...own, started: false, success: null, until });
      if (workerId !== null) taken.push({ workerId, lane: gang.lane });
    }
  }
  return placed;
}

/** How many members would have places now, at most all of them, and how many if the workers were idle. */
export function countPlaces(wanted: Wanted, workers: readonly WorkerRow[]): { free: number; idle: number } {
  const online = workers.filter(({ state }) => state === 'online');
  const count = (sites: readonly Site[]) =>
    assign(wanted, sites, { least: 0, most: wanted.members.length })?.length ?? 0;
  return { free: count(online.map((worker) => siteOf(worker, []))), idle: count(online.map(idleSite)) };
}

/** True if enough members would have places if the workers were idle. */
export function fitsIdle(wanted: Wanted, workers: readonly WorkerRow[]): boolean {
  return countPlaces(wanted, workers).idle >= leastOf(wanted);
}

/** What is needed for the members of a gang. */
interface Wanted {
  gang: Gang;
  lane: Lane;
  members: { readonly length: number };
}

/** The number of places that these members need to start. */
function leastOf({ gang, members }: Wanted): number {
  return Math.min(gang.min, members.length);
}

function siteOf(worker: WorkerRow, taken: readonly { workerId: number | null; lane: Lane }[]): Site {
  const own = taken.filter(({ workerId }) => workerId === worker.id);
  const free: Record<string, number> = { ...offerOf(worker).free };
  for (const { lane } of own) subtract(free, lane);
  return { worker, slots: worker.slots - worker.running - own.length, free };
}

function idleSite(worker: WorkerRow): Site {
  return { worker, slots: worker.slots, free: { ...worker.resources } };
}

/** The workers of as many members as fit, at most `most`, by rank; `undefined` if these are less than `least`. */
function assign(
  { gang, lane }: Wanted,
  sites: readonly Site[],
  { least, most }: { least: number; most: number },
): number[] | undefined {
  const plain = { ...lane, gang: false };
  const rooms = sites
    .filter(({ worker }) => serves(offerOf(worker), plain))
    .map((site) => ({ id: site.worker.id, room: Math.max(0, fits(plain, site.free, Math.max(0, site.slots))) }))
    .filter(({ room }) => room > 0)
    .sort((a, b) => b.room - a.room || a.id - b.id);
  if (gang.spread === 'same-worker') {
    const one = rooms.findLast(({ room }) => room >= most) ?? rooms[0];
    if (one === undefined || one.room < least) return undefined;
    return Array.from({ length: Math.min(one.room, most) }, () => one.id);
  }
  const assigned: number[] = [];
  const each = gang.spread === 'pack' ? Number.POSITIVE_INFINITY : 1;
  for (let left = rooms; left.length > 0 && assigned.length < most; left = left.filter(({ room }) => room > 0)) {
    for (const site of left) {
      const count = Math.min(each, site.room, most - assigned.length);
      for (let member = 0; member < count; member += 1) assigned.push(site.id);
      site.room -= count;
    }
  }
  return assigned.length >= least ? assigned : undefined;
}

function subtract(from: Record<string, number>, { resources }: Lane): void {
  for (const [name, amount] of Object.entries(resources)) from[name] = (from[name] ?? 0) - amount;
}

/** A place; the lane is that of a member that waits. */
export type PlaceInLane = Place & { lane: Lane | null };
export type HeldPlace = Place & { lane: Lane };

/** The places of a worker whose members wait, by job. */
export function heldBy(workerId: number, places: readonly PlaceInLane[]): HeldPlace[] {
  return places
    .filter((place): place is HeldPlace => place.workerId === workerId && !place.started && place.lane !== null)
    .sort((a, b) => a.jobId - b.jobId);
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
  const ready = new Set<string>();
  for (const { gangId, lane } of fitting) {
    if (ready.has(gangId)) continue;
    const others = now.filter((place) => ready.has(place.gangId) && !place.started && place.lane?.queue === lane.queue);
    const gang = now.filter((place) => place.gangId === gangId);
    const waits = (jobId: number) => gang.some((place) => place.jobId === jobId && place.lane !== null);
    if (isReady(gang, { left: left(lane) - others.length, waits })) ready.add(gangId);
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
    subtract(free, lane);
    return hasRoom;
  });
}

/** A member that waits without a place. */
export interface WaitingMember {
  id: number;
  priority: number;
  dueAt: number;
  failures: number;
  lane: Lane;
  gang: Gang;
  /** Its gang was given places before, or it has started. */
  begun: boolean;
}

/**
 * Groups jobs that wait by their gang. Gangs of which some do not wait, or have places, are left out. Those whose members go on without each
 * other are not, once they have begun: what waits again, by a person's retry, starts together when no other member has a place.
 */
export function waitingGangs(jobs: readonly WaitingMember[], places: readonly Place[]): WaitingGang[] {
  const placed = new Set(places.map(({ gangId }) => gangId));
  return byGang(jobs)
    .filter((members) => isWhole(members) && (members.length === members[0]?.gang.size || !placed.has(idOf(members))))
    .map((members) => {
      const byRank = members.toSorted((a, b) => a.gang.rank - b.gang.rank);
      const { gang, lane } = byRank[0] as WaitingMember;
      return {
        gang,
        lane,
        priority: Math.min(...members.map(({ priority }) => priority)),
        dueAt: Math.max(...members.map(({ dueAt }) => dueAt)),
        members: byRank.map(({ id, gang: { rank } }) => ({ id, rank })),
        failures: members.reduce((sum, { failures }) => sum + failures, 0),
      };
    })
    .sort((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || (a.members[0]?.id ?? 0) - (b.members[0]?.id ?? 0));
}

/** The members of gangs that have no places and wait for other members. */
export function incompleteGangs(jobs: readonly WaitingMember[], places: readonly Place[]): IncompleteGang[] {
  const placed = new Set(places.map(({ gangId }) => gangId));
  return byGang(jobs)
    .filter((members) => !isWhole(members) && !placed.has(idOf(members)))
    .map((members) => ({ id: idOf(members), jobIds: members.map(({ id }) => id).sort((a, b) => a - b) }));
}

function byGang(jobs: readonly WaitingMember[]): WaitingMember[][] {
  return [...Map.groupBy(jobs, ({ gang }) => gang.id).values()];
}

function idOf(members: readonly WaitingMember[]): string {
  return (members[0] as WaitingMember).gang.id;
}

/** True if these members wait for no others. */
function isWhole(members: readonly WaitingMember[]): boolean {
  const { gang } = members[0] as WaitingMember;
  return members.length === gang.size || (gang.onMemberFailure === 'continue' && members.some(({ begun }) => begun));
}

/**
 * The row of a gang that is given places. Failures of members in its last term cost it one, however many they are. A person's retry takes
 * back the failures of all members, and so those of the gang.
 */
export function nextTerm({ gang, members, failures }: WaitingGang, last: GangRow | undefined): GangRow {
  const { term = 0, stops = 0, failures: spent = 0, charged = 0 } = last ?? {};
  const cost = failures > charged ? 1 : 0;
  const counts = { failures: failures === 0 ? 0 : spent + cost, charged: failures, stops };
  return { id: gang.id, jobId: members[0]?.id as number, term: term + 1, ...counts, stopping: false };
}

/** True if none of these jobs, the first of each lane, is more urgent than the gang and could run on one of the workers. */
export function mayHold(
  gang: WaitingGang,
  heads: readonly { priority: number; dueAt: number; lane: Lane }[],
  workers: readonly WorkerRow[],
): boolean {
  return !heads.some(
    ({ priority, dueAt, lane }) =>
      (priority > gang.priority || (priority === gang.priority && dueAt < gang.dueAt)) &&
      workers.some((worker) => couldRun(worker, lane)),
  );
}
