/** Unfinished jobs: claimable ones by lane, scheduled ones by due time, running ones by worker. */

import type { Status, WaitingStatus } from '../../../core/job.ts';
import { type Lane, laneFromKey } from '../../../core/lane.ts';
import { metersOf } from '../../../core/meter.ts';
import { Heap } from '../../heap.ts';
import { Parkings } from '../jobs/parkings.ts';
import type { TurnGroups } from '../jobs/turn-groups.ts';
import type { Entry } from './entry.ts';

type LiveStatus = WaitingStatus | 'running';
type LiveCounts = Record<LiveStatus, number>;

export interface LaneLine {
  lane: Lane;
  /** Claimable jobs, the most urgent first; never empty. */
  line: Heap<Entry>;
}

/** Strict priority, then fair turn, then due time, then id. */
export function isAhead(a: Entry, b: Entry): boolean {
  if (a.spec.priority !== b.spec.priority) return a.spec.priority > b.spec.priority;
  const [aTurn, bTurn] = [turnOf(a), turnOf(b)];
  if (aTurn !== bTurn) return aTurn < bTurn;
  if (a.dueAt !== b.dueAt) return a.dueAt < b.dueAt;
  return a.id < b.id;
}

/** The fair turn of a job; 0 for a job that is not claimable, which has no turn yet. */
function turnOf({ status, turn }: Entry): number {
  return status === 'pending' ? turn : 0;
}

function isDueEarlier(a: Entry, b: Entry): boolean {
  return a.dueAt === b.dueAt ? a.id < b.id : a.dueAt < b.dueAt;
}

function expiresEarlier(a: Entry, b: Entry): boolean {
  const [aAt, bAt] = [a.expiresAt ?? Infinity, b.expiresAt ?? Infinity];
  return aAt === bAt ? a.id < b.id : aAt < bAt;
}

/** A state change takes the entry off, changes it, and puts it back. */
export class Live {
  readonly #lanes = new Map<string, LaneLine>();
  readonly #scheduled = new Heap<Entry>(isDueEarlier);
  readonly #expiring = new Heap<Entry>(expiresEarlier);
  readonly #held = new Map<number, Set<Entry>>();
  readonly #counts = new Map<string, LiveCounts & { total: number }>();
  /** Runs of schedules, by line. */
  readonly #runs = new Map<number, Set<Entry>>();
  /** Running jobs by limit. */
  readonly #metered = new Map<string, Set<Entry>>();
  readonly parkings = new Parkings();
  readonly #turns: TurnGroups;

  constructor(turns: TurnGroups) {
    this.#turns = turns;
  }

  add(entry: Entry): void {
    this.#count(entry, 1);
    const line = lineOf(entry);
    if (line !== null) {
      const runs = this.#runs.get(line) ?? new Set();
      this.#runs.set(line, runs.add(entry));
    }
    if (entry.status !== 'pending') entry.parkedIn = null;
    if (entry.parkedIn !== null) {
      this.parkings.add(entry, entry.parkedIn);
      this.#turns.add(entry);
    } else if (entry.status === 'pending') {
      let lane = this.#lanes.get(entry.lane);
      if (lane === undefined) {
        lane = { lane: laneFromKey(entry.lane), line: new Heap(isAhead) };
        this.#lanes.set(entry.lane, lane);
      }
      lane.line.add(entry);
      this.#turns.add(entry);
    } else if (entry.status === 'scheduled') this.#scheduled.add(entry);
    else if (isHeld(entry)) {
      this.#heldBy(entry.workerId as number).add(entry);
      for (const name of limitsOf(entry)) this.#metered.set(name, (this.#metered.get(name) ?? new Set()).add(entry));
    }
    if (entry.expiresAt !== null && entry.status !== 'running') this.#expiring.add(entry);
  }

  delete(entry: Entry): void {
    this.#count(entry, -1);
    const line = lineOf(entry);
    const runs = this.#runs.get(line ?? 0);
    if (runs?.delete(entry) && runs.size === 0) this.#runs.delete(line ?? 0);
    if (entry.parkedIn !== null) this.parkings.delete(entry, entry.parkedIn);
    const lane = this.#lanes.get(entry.lane);
    if (entry.status === 'pending' && lane?.line.delete(entry) && lane.line.size === 0) this.#lanes.delete(entry.lane);
    if (entry.status === 'pending') this.#turns.delete(entry);
    this.#scheduled.delete(entry);
    this.#expiring.delete(entry);
    if (isHeld(entry)) {
      const held = this.#heldBy(entry.workerId as number);
      held.delete(entry);
      if (held.size === 0) this.#held.delete(entry.workerId as number);
      for (const name of limitsOf(entry)) {
        const running = this.#metered.get(name);
        running?.delete(entry);
        if (running?.size === 0) this.#metered.delete(name);
      }
    }
  }

  /** Unfinished jobs that run for ticks of this line, without steps of workflows, by id. */
  runsOf(line: number): Entry[] {
    return [...(this.#runs.get(line) ?? [])].sort((a, b) => a.id - b.id);
  }

  lanes(): Iterable<LaneLine> {
    return this.#lanes.values();
  }

  /** Lanes and parkings: all claimable jobs. */
  *pendingLines(): Generator<LaneLine> {
    yield* this.#lanes.values();
    yield* this.parkings.all();
  }

  /** The number of running jobs that count against a limit. */
  runningWith(meter: string): number {
    return this.#metered.get(meter)?.size ?? 0;
  }

  /** These jobs, by id. */
  holdersOf(meter: string): number[] {
    return [...(this.#metered.get(meter) ?? [])].map(({ id }) => id).sort((a, b) => a - b);
  }

  /** The limits that running jobs count against. */
  metersInUse(): Iterable<string> {
    return this.#metered.keys();
  }

  lane(key: string): LaneLine | undefined {
    return this.#lanes.get(key);
  }

  /** The scheduled job that is due first. */
  nextDue(): Entry | undefined {
    return this.#scheduled.peek();
  }

  /** Jobs that have not started and will expire, in no particular order. */
  expiring(): Iterable<Entry> {
    return this.#expiring.values();
  }

  /** The first of them to expire. */
  nextToExpire(): Entry | undefined {
    return this.#expiring.peek();
  }

  /** The running jobs of this worker, by id. */
  heldBy(workerId: number): Entry[] {
    return [...(this.#held.get(workerId) ?? [])].sort((a, b) => a.id - b.id);
  }

  countHeldBy(workerId: number): number {
    return this.#held.get(workerId)?.size ?? 0;
  }

  /** Workers that run a job now. */
  holders(): Iterable<number> {
    return this.#held.keys();
  }

  queueNames(): Iterable<string> {
    return this.#counts.keys();
  }

  counts(queue: string): LiveCounts {
    const { total: _, ...counts } = this.#counts.get(queue) ?? NONE;
    return counts;
  }

  #count(entry: Entry, by: 1 | -1): void {
    const { queue } = entry.spec;
    const counts = this.#counts.get(queue) ?? { ...NONE };
    counts.total += by;
    if (entry.status !== 'running' || isHeld(entry)) counts[entry.status as LiveStatus] += by;
    if (counts.total === 0) this.#counts.delete(queue);
    else this.#counts.set(queue, counts);
  }

  #heldBy(workerId: number): Set<Entry> {
    let held = this.#held.get(workerId);
    if (held === undefined) {
      held = new Set();
      this.#held.set(workerId, held);
    }
    return held;
  }
}

const NONE: LiveCounts & { total: number } = { total: 0, blocked: 0, scheduled: 0, pending: 0, running: 0 };

function limitsOf({ spec }: Entry): string[] {
  return metersOf({ limits: spec.limits, rates: [] }).map(({ name }) => name);
}

/** A step is not a run of a schedule: its workflow is. */
function lineOf({ spec, workflowId }: Entry): number | null {
  return workflowId === null ? (spec.tick?.line ?? null) : null;
}

export function isLive(status: Status): status is LiveStatus {
  return status === 'running' || status === 'pending' || status === 'scheduled' || status === 'blocked';
}

/** True if a worker holds it. A group runs without a worker and takes no slot. */
export function isHeld(entry: Entry): boolean {
  return entry.status === 'running' && entry.workerId !== null;
}
