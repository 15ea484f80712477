/**
 * A lane is one combination of queue, kind, `requires` and `resources`. All jobs of a lane need the same of a worker,
 * so a claim looks at whole lanes and never scans past jobs that this worker cannot run. Metered jobs have lanes of their
 * own, so that claims of all others need not look at keys.
 */

import type { JobSpec } from './job.ts';
import { isMetered } from './meter.ts';

export interface Lane {
  queue: string;
  /** '' for commands, else the handler's name. */
  kind: string;
  requires: readonly string[];
  resources: Readonly<Record<string, number>>;
  /** Its jobs have limits or rates. */
  metered: boolean;
  /** True for members of gangs, which are started by their places only. */
  gang: boolean;
}

/** A lane that seemed unused. The mark is void as soon as a process looks the lane up to insert a job. */
export interface LaneMark {
  id: number;
  mark: number;
}

/** A process inserts jobs by a lane that it has looked up for at most this time. */
export const LANE_KNOWN_MS = 3_600_000;

type LaneSpec = Pick<JobSpec, 'queue' | 'handler' | 'requires' | 'resources' | 'limits' | 'rates' | 'gang'>;

/** The jobs that a worker can run at the moment of a claim. */
export interface Offer {
  /** `null`: all queues. */
  queues: readonly string[] | null;
  commands: boolean;
  handlers: readonly string[];
  tags: readonly string[];
  /** The part of its capacity that is free. A resource that is not listed is not available. */
  free: Readonly<Record<string, number>>;
}

export function laneOf(spec: LaneSpec): Lane {
  const { queue, handler, requires, resources, gang } = spec;
  return { queue, kind: handler ?? '', requires, resources, metered: isMetered(spec), gang: gang !== null };
}

/** The lane as text. Equal lanes have equal keys, in whatever order their parts were written. */
export function laneKey(lane: Lane): string {
  const requires = [...new Set(lane.requires)].sort();
  const resources = Object.entries(lane.resources)
    .filter(([, amount]) => amount > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const more = lane.gang ? [lane.metered ? 1 : 0, 'gang'] : lane.metered ? [1] : [];
  return JSON.stringify([lane.queue, lane.kind, requires, resources, ...more]);
}

/** The lane key of each spec. It is computed once for equal neighbours. */
export function laneKeysOf(specs: readonly LaneSpec[]): string[] {
  let last: LaneSpec | undefined;
  let key = '';
  return specs.map((spec) => {
    const isSame =
      last?.queue === spec.queue &&
      last.handler === spec.handler &&
      last.requires === spec.requires &&
      last.resources === spec.resources &&
      last.limits === spec.limits &&
      last.rates === spec.rates &&
      (last.gang === null) === (spec.gang === null);
    if (!isSame) key = laneKey(laneOf(spec));
    last = spec;
    return key;
  });
}

type StoredLane = [
  queue: string,
  kind: string,
  requires: string[],
  resources: [string, number][],
  metered?: 0 | 1,
  gang?: 'gang',
];

/** The inverse of `laneKey`. */
export function laneFromKey(key: string): Lane {
  const [queue, kind, requires, resources, metered, gang] = JSON.parse(key) as StoredLane;
  const marks = { metered: metered === 1, gang: gang !== undefined };
  return { queue, kind, requires, resources: Object.fromEntries(resources), ...marks };
}

/** True if the worker can claim jobs of this lane, leaving resources aside. */
export function serves(offer: Offer, lane: Lane): boolean {
  if (lane.gang) return false;
  if (offer.queues !== null && !offer.queues.includes(lane.queue)) return false;
  if (lane.kind === '' ? !offer.commands : !offer.handlers.includes(lane.kind)) return false;
  return lane.requires.every((tag) => offer.tags.includes(tag));
}

/** How many jobs of this lane fit into the free resources, at most `limit`. */
export function fits(lane: Lane, free: Readonly<Record<string, number>>, limit: number): number {
  let count = limit;
  for (const [name, amount] of Object.entries(lane.resources)) {
    if (amount > 0) count = Math.min(count, Math.floor((free[name] ?? 0) / amount));
  }
  return count;
}

export function needsResources(lane: Lane): boolean {
  return Object.values(lane.resources).some((amount) => amount > 0);
}
