/**
 * Gangs: jobs that all get a place before any of them starts. One call of the store gives a whole gang its places, each at a worker; the
 * worker accepts a place when it has room, and holds it from then on. Once all are accepted, the members start.
 *
 * Only one gang at a time is given places that are not free yet, so no two gangs can each hold what the other waits for.
 */

import type { StoredReservation } from './capacity.ts';
import { fits, type Lane, type Offer, serves } from './lane.ts';
import type { Usage } from './outcome.ts';
import { couldRun, offerOf } from './outlook.ts';
import type { WorkerRow } from './worker.ts';

export const SPREADS = ['pack', 'spread', 'same-worker'] as const;
export const ON_MEMBER_FAILURE = ['restart', 'fail', 'continue'] as const;

/** The gang of a job, and its rank there. Members have the same id, size and rules. */
export interface Gang {
  id: string;
  /** 0 … size − 1 */
  rank: number;
  size: number;
  /** `pack`: on as few workers as possible. `spread`: on as many as possible. */
  spread: (typeof SPREADS)[number];
  /**
   * What happens if a member does not succeed. `restart`: the others are stopped, and the gang is placed again. `fail`: the others are
   * cancelled. `continue`: the others go on.
   */
  onMemberFailure: (typeof ON_MEMBER_FAILURE)[number];
  /** How long places that are not all accepted are held before they are chosen again. */
  timeoutMs: number;
}

/** The tag by which the members of a gang are found. */
export function gangTag(id: string): string {
  return `gang:${id}`;
}

/** A member of the gang of a step: an item of its group, with the group's spec. Other items are left as they are. */
export function itemSpec<T extends { gang: Gang | null; tags: readonly string[] }>(
  spec: T,
  { groupId, index }: { groupId: number; index: number },
): T {
  if (spec.gang === null) return spec;
  const id = `step-${groupId}`;
  return { ...spec, gang: { ...spec.gang, id, rank: index }, tags: [...spec.tags, gangTag(id)] };
}

/** What a worker tells a member about its gang. */
export interface GangContext {
  /** The address of each member's worker, by rank. */
  hosts: readonly string[];
}

/** The success of a member, which is done when all members of its gang have succeeded. */
export interface MemberSuccess {
  exitCode: number | null;
  result: unknown;
  usage?: Usage | undefined;
}

/** What is known about a gang since it was first given places. */
export interface GangRow {
  id: string;
  /** The job of rank 0. */
  jobId: number;
  /** The number of times that it was given places. */
  term: number;
  /** The number of terms that ended because a member failed. They count against `maxAttempts`. */
  failures: number;
  /** The failures of its members together when the term began. */
  charged: number;
  /** The number of terms that were stopped. */
  stops: number;
  /** The term is being stopped: its members end, and the gang is placed again. */
  stopping: boolean;
}

/** The places of a gang that are to be deleted. They are kept if its term is another one by then. */
export interface DroppedPlaces {
  gangId: string;
  term: number;
  /** Keep them also if a member has started. */
  unlessStarted: boolean;
}

/** True for a member that is done only when all members of its gang have succeeded. */
export function needsAll({ gang }: { gang: Gang | null }): boolean {
  return gang !== null && gang.onMemberFailure !== 'continue';
}

/** True for a member whose gang starts again as a whole if one member does not succeed. */
export function restarts({ gang }: { gang: Gang | null }): boolean {
  return gang?.onMemberFailure === 'restart';
}

/** The place of a member at a worker. */
export interface Place {
  jobId: number;
  gangId: string;
  rank: number;
  /** The size of the gang. */
  size: number;
  workerId: number;
  /** The worker has room for it, and holds it. */
  accepted: boolean;
  /** The member has started, or will not start in this term. */
  started: boolean;
  /** The member has succeeded, and waits for the others. */
  success: MemberSuccess | null;
  /** When the places of the gang are given back, unless all are accepted. */
  until: number;
}

/** A gang whose members all wait. */
export interface WaitingGang {
  gang: Gang;
  priority: number;
  dueAt: number;
  lane: Lane;
  /** By rank. */
  jobIds: readonly number[];
  /** The failures of its members together. */
  failures: number;
}

/** The room of a worker for members of gangs. */
interface Site {
  worker: WorkerRow;
  slots: number;
  free: Record<string, number>;
}

/**
 * Gives places to gangs, the most urgent first. A gang that fits into what is free is placed there. The first that would fit if
 * the workers were idle is placed too, if `mayHold` and no gang waits for its places yet: what becomes free there is held for it.
 */
export function placeGangs(
  gangs: readonly WaitingGang[],
  given: {
    workers: readonly WorkerRow[];
    places: readonly (Place & { lane: Lane })[];
    reservations: readonly (StoredReservation & { lane: Lane; priority: number })[];
    now: number;
    mayHold: (gang: WaitingGang) => boolean;
  },
): Place[] {
  const placed: Place[] = [];
  const taken: { workerId: number; lane: Lane }[] = given.places.filter(({ started }) => !started);
  let isHolding = given.places.some(({ accepted }) => !accepted);
  for (const gang of gangs) {
    const able = given.workers.filter(({ state }) => state === 'online');
    const reserved = given.reservations.filter(({ priority }) => priority >= gang.priority);
    let found = assign(
      gang,
      able.map((worker) => siteOf(worker, [...taken, ...reserved])),
    );
    // What was given in this round is not held yet, and must not be waited for.
    if (found === undefined && !isHolding && placed.length === 0 && given.mayHold(gang)) {
      found = assign(gang, able.map(idleSite));
      isHolding = found !== undefined;
    }
    if (found === undefined) continue;
    const until = given.now + gang.gang.timeoutMs;
    found.forEach((workerId, rank) => {
      const jobId = gang.jobIds[rank] as number;
      placed.push({
        jobId,
        gangId: gang.gang.id,
        rank,
        size: gang.gang.size,
        workerId,
        accepted: false,
        started: false,
        success: null,
        until,
      });
      taken.push({ workerId, lane: gang.lane });
    });
  }
  return placed;
}

/** True if the gang would have places if the workers were idle. */
export function fitsIdle(gang: WaitingGang, workers: readonly WorkerRow[]): boolean {
  return assign(gang, workers.filter(({ state }) => state === 'online').map(idleSite)) !== undefined;
}

function siteOf(worker: WorkerRow, taken: readonly { workerId: number; lane: Lane }[]): Site {
  const own = taken.filter(({ workerId }) => workerId === worker.id);
  const free: Record<string, number> = { ...offerOf(worker).free };
  for (const { lane } of own) subtract(free, lane);
  return { worker, slots: worker.slots - worker.running - own.length, free };
}

function idleSite(worker: WorkerRow): Site {
  return { worker, slots: worker.slots, free: { ...worker.resources } };
}

/** The worker of each member, by rank; `undefined` if they do not all fit. */
function assign({ gang, lane }: WaitingGang, sites: readonly Site[]): number[] | undefined {
  const plain = { ...lane, gang: false };
  const rooms = sites
    .filter(({ worker }) => serves(offerOf(worker), plain))
    .map((site) => ({ id: site.worker.id, room: Math.max(0, fits(plain, site.free, Math.max(0, site.slots))) }))
    .filter(({ room }) => room > 0)
    .sort((a, b) => b.room - a.room || a.id - b.id);
  if (gang.spread === 'same-worker') {
    const whole = rooms.findLast(({ room }) => room >= gang.size);
    return whole && Array.from({ length: gang.size }, () => whole.id);
  }
  const assigned: number[] = [];
  const most = gang.spread === 'pack' ? Number.POSITIVE_INFINITY : 1;
  for (let left = rooms; left.length > 0 && assigned.length < gang.size; left = left.filter(({ room }) => room > 0)) {
    for (const site of left) {
      const count = Math.min(most, site.room, gang.size - assigned.length);
      for (let member = 0; member < count; member += 1) assigned.push(site.id);
      site.room -= count;
    }
  }
  return assigned.length === gang.size ? assigned : undefined;
}

function subtract(from: Record<string, number>, { resources }: Lane): void {
  for (const [name, amount] of Object.entries(resources)) from[name] = (from[name] ?? 0) - amount;
}

/** True if the members can start: each has a place that its worker holds, and their queue has `left` for them. */
export function isReady(
  places: readonly Place[],
  { left, waits }: { left: number; waits: (jobId: number) => boolean },
): boolean {
  const waiting = places.filter(({ started }) => !started);
  if (places.length !== places[0]?.size || waiting.length > left) return false;
  return places.every(({ accepted }) => accepted) && waiting.every(({ jobId }) => waits(jobId));
}

/** The places among those of one worker for which its offer has room. Those that it holds already come first. */
export function fittingPlaces<T extends { lane: Lane; accepted: boolean }>(
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

/** Groups jobs that wait by their gang. Gangs of which some do not wait, or have places, are left out. */
export function waitingGangs(
  jobs: readonly { id: number; priority: number; dueAt: number; failures: number; lane: Lane; gang: Gang }[],
): WaitingGang[] {
  const gangs = [...Map.groupBy(jobs, ({ gang }) => gang.id).values()];
  return gangs
    .filter((members) => members.length === members[0]?.gang.size)
    .map((members) => {
      const byRank = members.toSorted((a, b) => a.gang.rank - b.gang.rank);
      const { gang, lane } = byRank[0] as (typeof members)[number];
      return {
        gang,
        lane,
        priority: Math.min(...members.map(({ priority }) => priority)),
        dueAt: Math.max(...members.map(({ dueAt }) => dueAt)),
        jobIds: byRank.map(({ id }) => id),
        failures: members.reduce((sum, { failures }) => sum + failures, 0),
      };
    })
    .sort((a, b) => b.priority - a.priority || a.dueAt - b.dueAt || (a.jobIds[0] ?? 0) - (b.jobIds[0] ?? 0));
}

/** The row of a gang that is given places. A person's retry takes back the failures of all members, and so those of the gang. */
export function nextTerm({ gang, jobIds, failures }: WaitingGang, last: GangRow | undefined): GangRow {
  const { term = 0, stops = 0, failures: spent = 0 } = last ?? {};
  const counts = { failures: failures === 0 ? 0 : spent, charged: failures, stops };
  return { id: gang.id, jobId: jobIds[0] as number, term: term + 1, ...counts, stopping: false };
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
