/**
 * A lane is one combination of queue, kind, `requires` and `resources`. All jobs of a lane need the same of a
 * worker, so a claim looks at whole lanes and never scans past jobs that nobody here can run.
 */

import type { JobSpec } from './job.ts';

export interface Lane {
  queue: string;
  /** '' for commands, else the handler's name. */
  kind: string;
  requires: readonly string[];
  resources: Readonly<Record<string, number>>;
}

/** What a worker can run at the moment of a claim. */
export interface Offer {
  /** `null`: all queues. */
  queues: readonly string[] | null;
  commands: boolean;
  handlers: readonly string[];
  tags: readonly string[];
  /** What is left of its capacity. A resource that is not named is not there. */
  free: Readonly<Record<string, number>>;
}

export function laneOf(spec: Pick<JobSpec, 'queue' | 'handler' | 'requires' | 'resources'>): Lane {
  return { queue: spec.queue, kind: spec.handler ?? '', requires: spec.requires, resources: spec.resources };
}

/** The lane as one text: equal lanes, whatever the order in which their parts were written, have equal keys. */
export function laneKey(lane: Lane): string {
  const requires = [...new Set(lane.requires)].sort();
  const resources = Object.entries(lane.resources)
    .filter(([, amount]) => amount > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([lane.queue, lane.kind, requires, resources]);
}

/** The key of each spec's lane. Neighbours that are alike are worked out once. */
export function laneKeysOf(specs: readonly Pick<JobSpec, 'queue' | 'handler' | 'requires' | 'resources'>[]): string[] {
  let last: (typeof specs)[number] | undefined;
  let key = '';
  return specs.map((spec) => {
    const isSame =
      last?.queue === spec.queue &&
      last.handler === spec.handler &&
      last.requires === spec.requires &&
      last.resources === spec.resources;
    if (!isSame) key = laneKey(laneOf(spec));
    last = spec;
    return key;
  });
}

/** The inverse of `laneKey`. */
export function laneFromKey(key: string): Lane {
  const [queue, kind, requires, resources] = JSON.parse(key) as [string, string, string[], [string, number][]];
  return { queue, kind, requires, resources: Object.fromEntries(resources) };
}

/** Whether the worker serves this lane at all, resources aside. */
export function serves(offer: Offer, lane: Lane): boolean {
  if (offer.queues !== null && !offer.queues.includes(lane.queue)) return false;
  if (lane.kind === '' ? !offer.commands : !offer.handlers.includes(lane.kind)) return false;
  return lane.requires.every((tag) => offer.tags.includes(tag));
}

/** How many jobs of this lane fit into what is free, `limit` at most. */
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
