/**
 * Gangs: jobs that all get a place before any of them starts. One call of the store gives a whole gang its places, each at a worker; the
 * worker accepts a place when it has room, and holds it from then on. Once all are accepted, the members start.
 *
 * Only one gang at a time is given places that are not free yet, so no two gangs can each hold what the other waits for.
 */

import type { Usage } from './outcome.ts';

export const SPREADS = ['pack', 'spread', 'same-worker'] as const;
export const ON_MEMBER_FAILURE = ['restart', 'fail', 'continue'] as const;

/** The gang of a job, and its rank there. Members have the same id, size and rules. */
export interface Gang {
  id: string;
  /** 0 … size − 1 */
  rank: number;
  size: number;
  /** The number of places that suffices to start. Members without a place are left out of the term. */
  min: number;
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
  /** The address of the worker of each member that starts, by rank; empty for a member that has ended before. */
  hosts: readonly string[];
}

/**
 * The hosts of a gang, from those of the members that have places: the first ones by rank. If members go on without each other, they keep
 * their entries, and those that have ended before have an empty one.
 */
export function hostsOf(gang: Gang, placed: readonly { rank: number; host: string }[]): string[] {
  const hosts = new Map(placed.map(({ rank, host }) => [rank, host]));
  const length = needsAll({ gang }) ? placed.length : gang.size;
  return Array.from({ length }, (_, rank) => hosts.get(rank) ?? '');
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
  /** The first of the members that were last given places. */
  jobId: number;
  /** The number of times that it was given places. */
  term: number;
  /** The number of its earlier terms in which a member failed. They count against `maxAttempts`. */
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

/** Members of a gang that have no places, and wait for other members. */
export interface IncompleteGang {
  id: string;
  jobIds: readonly number[];
}

/** True for a member that is done only when all members of its gang have succeeded. */
export function needsAll({ gang }: { gang: Gang | null }): boolean {
  return gang !== null && gang.onMemberFailure !== 'continue';
}

/** True for a member whose gang starts again as a whole if one member does not succeed. */
export function restarts({ gang }: { gang: Gang | null }): boolean {
  return gang?.onMemberFailure === 'restart';
}

/** The place of a member at a worker, or what says that it has none in this term. */
export interface Place {
  jobId: number;
  gangId: string;
  rank: number;
  /** The number of members that were given places with it. */
  size: number;
  /** `null`: the member is left out of this term, and waits. */
  workerId: number | null;
  /** The worker has room for it, and holds it; true for a member that is left out. */
  accepted: boolean;
  /** The member has started, or will not start in this term. */
  started: boolean;
  /** The member has succeeded, and waits for the others. */
  success: MemberSuccess | null;
  /** When the places of the gang are given back, unless all are accepted. */
  until: number;
}
