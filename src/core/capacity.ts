/**
 * Decides whether a job may start on a worker now. One claim of one worker asks this about job after job, in the order of claims.
 *
 * The first job that fits the worker when idle, but not now, gets a *reservation*: what becomes free is held for it. A later job may
 * pass it if it ends before the reserved job is expected to start, or if it takes only what the reservation leaves.
 */

import type { JobSpec } from './job.ts';
import { fits, type Lane, needsResources } from './lane.ts';

type Amounts = Readonly<Record<string, number>>;

/** How long a run can take. */
export type RunTimes = Pick<JobSpec, 'timeoutMs' | 'killGraceMs' | 'onDisconnect'>;

/** A run that takes resources of the worker; `endsAt` is the latest instant at which it ends, or `null` if that is not known. */
export interface Use {
  resources: Amounts;
  endsAt: number | null;
}

/** A job for which a worker holds what becomes free. */
export interface Reservation {
  jobId: number;
  /** When enough will be free at the latest; `null` if a run without a known end has to end first. */
  startsAt: number | null;
}

/** A reservation as it is stored: at most one per worker, written again by the worker's claims while it lasts. */
export interface StoredReservation extends Reservation {
  workerId: number;
  renewedAt: number;
}

/** After this time without a claim of its worker, a reservation is void. */
export const RESERVATION_MS = 30_000;
const RENEW_AFTER_MS = 10_000;

/** The facts that a claim needs before it can reserve. */
export interface Surroundings {
  now: number;
  /** What the worker registered with. */
  total: Amounts;
  /** The jobs that the worker holds, by the store. */
  uses: readonly Use[];
  /** The times of a job that the claim has considered or will consider. */
  timesOf: (jobId: number) => RunTimes;
  /** The reservations of all workers that may claim, not older than `RESERVATION_MS`. */
  reservations: readonly StoredReservation[];
}

/** What keeps a job from starting. `short`: too little is free. `reserved`: what is free is held for another job. */
export type Obstacle = 'short' | 'reserved';

/** When a run that started at `startedAt` ends at the latest; `null` if it may go on without contact. */
export function latestEnd({ timeoutMs, killGraceMs, onDisconnect }: RunTimes, startedAt: number): number | null {
  return onDisconnect === 'finish' ? null : startedAt + timeoutMs + killGraceMs;
}

/** When this many of the runs have ended at the latest; `null` if that is not known. */
export function endOfSome(runs: readonly (RunTimes & { startedAt: number | null })[], count: number): number | null {
  const ends = runs.map((run) => (run.startedAt === null ? null : latestEnd(run, run.startedAt)));
  const known = ends.filter((end) => end !== null).sort((a, b) => a - b);
  return known[count - 1] ?? null;
}

/** What one worker has left during one claim. */
export class Room {
  readonly #workerId: number;
  readonly #free: Record<string, number>;
  /** Jobs that this claim takes, in lanes with resources. */
  readonly #taken: { jobId: number; resources: Amounts }[] = [];
  #surroundings: Surroundings | undefined;
  #reservation: Reservation | null = null;
  /** What the reserved job leaves when it has started. */
  #spare: Record<string, number> = {};

  constructor(workerId: number, free: Amounts) {
    this.#workerId = workerId;
    this.#free = { ...free };
  }

  get reservation(): Reservation | null {
    return this.#reservation;
  }

  get free(): Amounts {
    return this.#free;
  }

  /** How many jobs of this lane fit, at most `limit`, leaving reservations aside. */
  fits(lane: Lane, limit: number): number {
    return fits(lane, this.#free, limit);
  }

  /** False if `reserve` would do nothing. */
  mayReserve(lane: Lane): boolean {
    if (this.#reservation !== null) return false;
    return this.#surroundings === undefined || fits(lane, atLeast(this.#surroundings.total, this.#free), 1) > 0;
  }

  /** Returns `null` if the job may start. */
  obstacleTo(jobId: number, lane: Lane): Obstacle | null {
    if (!needsResources(lane)) return null;
    if (this.fits(lane, 1) < 1) return 'short';
    return this.#reservation === null || this.#endsInTime(jobId) || fits(lane, this.#spare, 1) > 0 ? null : 'reserved';
  }

  /** Holds what a member of a gang needs at this worker. */
  hold({ resources }: Lane): void {
    subtract(this.#free, resources);
  }

  take(jobId: number, { resources }: Lane): void {
    if (this.#reservation !== null && !this.#endsInTime(jobId)) subtract(this.#spare, resources);
    subtract(this.#free, resources);
    this.#taken.push({ jobId, resources });
  }

  /**
   * Reserves for a job that is `short`, unless there is a more urgent one, the worker is too small for it, or another worker holds
   * as much for it and expects it as early.
   */
  reserve(jobId: number, lane: Lane, surroundings: Surroundings): void {
    this.#surroundings = surroundings;
    if (!this.mayReserve(lane)) return;
    const { now, timesOf } = surroundings;
    const total = atLeast(surroundings.total, this.#free);
    const uses = [
      ...this.#unknownUses(total, surroundings),
      ...surroundings.uses.map(({ resources, endsAt }) => ({ resources, endsAt: laterOf(endsAt, now) })),
      ...this.#taken.map((taken) => ({ ...taken, endsAt: latestEnd(timesOf(taken.jobId), now) })),
    ];
    const { startsAt, free } = expect(lane, total, uses);
    if (this.#isHeldElsewhere({ jobId, startsAt }, surroundings)) return;
    this.#reservation = { jobId, startsAt };
    subtract(free, lane.resources);
    this.#spare = free;
  }

  /** What to store after the claim; `undefined`: what is stored stays. */
  toStore(): { set: Reservation | null } | undefined {
    if (this.#surroundings === undefined) return undefined;
    const { now, reservations } = this.#surroundings;
    const stored = reservations.find(({ workerId }) => workerId === this.#workerId);
    const wanted = this.#reservation;
    if (wanted === null) return stored === undefined ? undefined : { set: null };
    const isSame = stored?.jobId === wanted.jobId && stored.startsAt === wanted.startsAt;
    return isSame && now - stored.renewedAt < RENEW_AFTER_MS ? undefined : { set: wanted };
  }

  #endsInTime(jobId: number): boolean {
    if (this.#surroundings === undefined || this.#reservation === null) return true;
    const { now, timesOf } = this.#surroundings;
    const endsAt = latestEnd(timesOf(jobId), now);
    const { startsAt } = this.#reservation;
    return endsAt !== null && startsAt !== null && endsAt <= startsAt;
  }

  /** What is in use without a job that the store knows: handlers that ignore their signal. */
  #unknownUses(total: Amounts, { uses }: Surroundings): Use[] {
    const resources: Record<string, number> = {};
    for (const [name, amount] of Object.entries(total)) {
      const taken = [...this.#taken, ...uses].reduce((sum, use) => sum + (use.resources[name] ?? 0), 0);
      const unknown = amount - (this.#free[name] ?? 0) - taken;
      if (unknown > 0) resources[name] = unknown;
    }
    return [{ resources, endsAt: null }];
  }

  #isHeldElsewhere({ jobId, startsAt }: Reservation, { reservations }: Surroundings): boolean {
    return reservations.some(
      (other) =>
        other.workerId !== this.#workerId &&
        other.jobId === jobId &&
        (startsAt === null || (other.startsAt !== null && other.startsAt <= startsAt)),
    );
  }
}

/** What jobs take together; `count` is the number of equal ones. */
export function usedBy(all: readonly { resources: Amounts; count?: number }[]): Record<string, number> {
  const used: Record<string, number> = {};
  for (const { resources, count = 1 } of all) {
    for (const [name, amount] of Object.entries(resources)) used[name] = (used[name] ?? 0) + count * amount;
  }
  return used;
}

/** When a job of this lane fits at the latest, and what is free then. Without a known end, what may be free by then. */
function expect(
  lane: Lane,
  total: Amounts,
  uses: readonly Use[],
): { startsAt: number | null; free: Record<string, number> } {
  const free = { ...total };
  for (const { resources } of uses) subtract(free, resources);
  const ending = uses.filter((use): use is Use & { endsAt: number } => use.endsAt !== null);
  let startsAt: number | null = null;
  for (const { resources, endsAt } of ending.sort((a, b) => a.endsAt - b.endsAt)) {
    if (startsAt !== null && endsAt > startsAt) break;
    add(free, resources);
    if (fits(lane, free, 1) > 0) startsAt = endsAt;
  }
  return { startsAt, free };
}

function laterOf(endsAt: number | null, now: number): number | null {
  return endsAt === null ? null : Math.max(endsAt, now);
}

function atLeast(total: Amounts, free: Amounts): Amounts {
  const names = new Set([...Object.keys(total), ...Object.keys(free)]);
  return Object.fromEntries([...names].map((name) => [name, Math.max(total[name] ?? 0, free[name] ?? 0)]));
}

function add(to: Record<string, number>, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) to[name] = (to[name] ?? 0) + amount;
}

/** Takes amounts away from others. */
export function subtract(from: Record<string, number>, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) from[name] = (from[name] ?? 0) - amount;
}
