/** What the next claim of a worker would do with a job that can be claimed. */

import type { Obstacle, Reservation, Room } from './capacity.ts';
import { fits, type Lane, type Offer, serves } from './lane.ts';
import type { WorkerRow } from './worker.ts';

export interface Outlook {
  workerId: number;
  workerName: string;
  /** `null`: it would start. `slots`: the jobs that run or come first leave no slot, or fill its limits and rates. */
  obstacle: Obstacle | 'slots' | null;
  /** What the worker has free before its next claim, as the store knows it. */
  free: Readonly<Record<string, number>>;
  /** The job for which the worker holds what becomes free. */
  reservation: Reservation | null;
}

/** What a claim has chosen, and why it took nothing more from some lanes. */
export interface Choice {
  jobIds: readonly number[];
  /** What kept the first job that was not taken from starting, by lane. */
  closed: ReadonlyMap<Lane, Obstacle>;
  room: Room;
}

/** What a worker offers to its next claim, as the store knows it. */
export function offerOf({ queues, commands, handlers, tags, resources, used }: WorkerRow): Offer {
  const free = Object.entries(resources).map(([name, total]) => [name, total - (used[name] ?? 0)] as const);
  return { queues, commands, handlers, tags, free: Object.fromEntries(free) };
}

/** True if the worker could run jobs of this lane if it were idle. */
export function couldRun(worker: WorkerRow, lane: Lane): boolean {
  return worker.state === 'online' && serves(offerOf(worker), lane) && fits(lane, worker.resources, 1) > 0;
}

/** The number of jobs that a claim of the worker would ask for; at least 1, to see what else is in the way. */
export function claimLimitOf({ slots, running }: WorkerRow): number {
  return Math.max(1, slots - running);
}

/** `lane`: `null` for a member of a gang. */
export function outlookOf(worker: WorkerRow, job: { id: number; lane: Lane | null }, choice: Choice): Outlook {
  const isTaken = choice.jobIds.includes(job.id) && worker.slots > worker.running;
  return {
    workerId: worker.id,
    workerName: worker.name,
    obstacle: isTaken ? null : ((job.lane && choice.closed.get(job.lane)) ?? 'slots'),
    free: offerOf(worker).free,
    reservation: choice.room.reservation,
  };
}
