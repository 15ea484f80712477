/** Which workers the members of gangs get their places at. What claims do with the places is in claim-places.ts. */

import { type StoredReservation, subtract } from './capacity.ts';
import { type HeldPlace, keptIn } from './claim-places.ts';
import type { Gang, GangRow, IncompleteGang, Place } from './gang.ts';
import { fits, type Lane, serves } from './lane.ts';
import { couldRun, offerOf } from './outlook.ts';
import type { WorkerRow } from './worker.ts';

/** What the settings of queues allow, leaving the places of gangs aside. */
export interface QueueRoom {
  /** How many more jobs of the lane's queue may start now. */
  left: (lane: Lane) => number;
  /** How many could start if none had before. */
  most: (lane: Lane) => number;
}

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
 * Gives places to gangs, the most urgent first. A gang that fits into what is free is placed there. The first that would fit if the workers and
 * its queue were idle is placed too, if `mayHold` and no gang waits with its places yet: what becomes free there is held for it.
 */
export function placeGangs(
  gangs: readonly WaitingGang[],
  given: {
    workers: readonly WorkerRow[];
    places: readonly HeldPlace[];
    reservations: readonly (StoredReservation & { lane: Lane; priority: number })[];
    now: number;
    mayHold: (gang: WaitingGang) => boolean;
  } & QueueRoom,
): Place[] {
  const placed: Place[] = [];
  const taken: HeldPlace[] = given.places.filter(({ started }) => !started);
  let isHolding = taken.some(({ accepted, lane }) => !accepted || keptIn(lane, taken) > given.left(lane));
  for (const gang of gangs) {
    const least = leastOf(gang);
    if (given.most(gang.lane) < least) continue;
    const most = Math.min(gang.members.length, given.left(gang.lane) - keptIn(gang.lane, taken));
    const able = given.workers.filter(({ state }) => state === 'online');
    const reserved = given.reservations.filter(({ priority }) => priority >= gang.priority);
    const free = able.map((worker) => siteOf(worker, [...taken, ...reserved]));
    let found = most < least ? undefined : assign(gang, free, { least, most });
    // What was given in this round is not held yet, and must not be waited for.
    if (found === undefined && !isHolding && placed.length === 0 && given.mayHold(gang)) {
      // The fewer places it waits for, the sooner it starts.
      const few = { least, most: least };
      found = assign(gang, free, few) ?? assign(gang, able.map(idleSite), few);
      isHolding = found !== undefined;
    }
    if (found === undefined) continue;
    const until = given.now + gang.gang.timeoutMs;
    for (const [index, { id: jobId, rank }] of gang.members.entries()) {
      const workerId = found[index] ?? null;
      const own = { jobId, gangId: gang.gang.id, rank, size: found.length, workerId, accepted: workerId === null };
      const place = { ...own, started: false, success: null, until };
      placed.push(place);
      taken.push({ ...place, lane: gang.lane });
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
  for (const { lane } of own) subtract(free, lane.resources);
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

/**
 * True if none of these jobs, the first of each lane, is more urgent than the gang and could run on one of the workers. Jobs of full queues do
 * not count, except those of the gang's own queue: the gang would take their turn.
 */
export function mayHold(
  gang: WaitingGang,
  heads: readonly { priority: number; dueAt: number; lane: Lane }[],
  { workers, left }: { workers: readonly WorkerRow[] } & Pick<QueueRoom, 'left'>,
): boolean {
  return !heads.some(
    ({ priority, dueAt, lane }) =>
      !lane.gang &&
      (lane.queue === gang.lane.queue || left(lane) > 0) &&
      (priority > gang.priority || (priority === gang.priority && dueAt < gang.dueAt)) &&
      workers.some((worker) => couldRun(worker, lane)),
  );
}
