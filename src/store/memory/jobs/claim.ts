import {
  latestEnd,
  type Obstacle,
  RESERVATION_MS,
  Room,
  type StoredReservation,
  type Surroundings,
} from '../../../core/capacity.ts';
import { keptIn } from '../../../core/claim-places.ts';
import { WorkronError } from '../../../core/error.ts';
import type { Gang } from '../../../core/gang.ts';
import type { ClaimedJob, ParentEnd } from '../../../core/job.ts';
import { type Lane, laneKey, serves } from '../../../core/lane.ts';
import { fullMeter, MAX_PARKED, metersOf } from '../../../core/meter.ts';
import type { Choice } from '../../../core/outlook.ts';
import { laneMayPrefetch, mayPrefetch } from '../../../core/prefetch.ts';
import { mostOf } from '../../../core/queue.ts';
import type { ClaimRequest } from '../../job-store.ts';
import { type Entry, toClaimedJob } from '../base/entry.ts';
import { isAhead, type LaneLine } from '../base/live.ts';
import { change, isSilent, mayClaim, type Tables } from '../base/tables.ts';
import { runContextOf } from '../graph/run-context.ts';
import { stepStarted } from '../graph/workflow-row.ts';
import { allPlaces, gangHosts, heldPlaces, startPlaced } from './gangs.ts';
import { noteStart, queueRoom, useOf } from './meters.ts';
import { dropKey } from './unique.ts';

export function claim(tables: Tables, request: ClaimRequest): ClaimedJob[] {
  const worker = tables.workers.get(request.workerId);
  if (worker === undefined || worker.offline) {
    throw new WorkronError('worker_not_found', `Worker ${request.workerId} is not registered; register again`);
  }
  if (worker.draining || isSilent(tables, worker)) return [];

  const claimed: { job: ClaimedJob; turn: number }[] = [];
  const parentEnds = new Map<number, ParentEnd>();
  const held = request.prefetch ? [] : heldPlaces(tables, worker.id);
  for (const entry of held.length === 0 ? [] : startPlaced(tables, request)) {
    const gangContext = { hosts: gangHosts(tables, entry.spec.gang as Gang) };
    claimed.push({ job: { ...hand(tables, entry, { request, parentEnds }), gangContext }, turn: entry.turn });
  }
  const parkings = request.prefetch ? [] : tables.live.parkings.open(tables.clock.now());
  let parked = 0;
  const { room } = choose(tables, request, {
    held,
    lines: [...tables.live.lanes(), ...parkings],
    park: ({ entry, lanes }) => {
      const isParked = parkIfFull(tables, entry, lanes);
      if (isParked && (parked += 1) === MAX_PARKED) leaveMetered(tables, lanes);
      return isParked;
    },
    take: (entry) => void claimed.push({ job: hand(tables, entry, { request, parentEnds }), turn: entry.turn }),
  });
  const stored = room.toStore();
  if (stored?.set === null) tables.reservations.delete(worker.id);
  else if (stored !== undefined) {
    tables.reservations.set(worker.id, { ...stored.set, workerId: worker.id, renewedAt: tables.clock.now() });
  }
  const inOrder = claimed.sort(
    (a, b) => b.job.priority - a.job.priority || a.turn - b.turn || a.job.dueAt - b.job.dueAt || a.job.id - b.job.id,
  );
  return inOrder.map(({ job }) => job);
}

export interface Candidates {
  /** What the worker holds for members of gangs. */
  held: readonly { lane: Lane }[];
  lines: Iterable<LaneLine>;
  /** True if a meter keeps the job from starting; the job has then left `line`. */
  park: (candidate: { entry: Entry; line: LaneLine['line']; lanes: Set<LaneLine> }) => boolean;
  /** Must take the job out of its line. */
  take: (entry: Entry, best: LaneLine) => void;
}

/** Chooses the most urgent jobs that may start. */
export function choose(tables: Tables, request: ClaimRequest, { held, lines, park, take }: Candidates): Choice {
  const lanes = new Set([...lines].filter(({ lane }) => serves(request.offer, lane)));
  const room = new Room(request.workerId, request.offer.free);
  for (const { lane } of held) room.hold(lane);
  const limit = request.limit - held.length;
  const headroom = new Headroom(tables, (queue) => keptIn({ queue }, allPlaces(tables)));
  const closed = new Map<Lane, Obstacle>();
  const jobIds: number[] = [];
  while (jobIds.length < limit) {
    const best = bestOf(headroom, lanes);
    if (best === undefined) break;
    const { lane, line } = best;
    const entry = line.peek() as Entry;
    const obstacle = room.obstacleTo(entry.id, lane);
    const mayReserve = obstacle === 'short' && !request.prefetch && room.mayReserve(lane);
    if (lane.metered && !request.prefetch && (obstacle === null || mayReserve) && park({ entry, line, lanes })) {
      if (line.size === 0) lanes.delete(best);
      continue;
    }
    if (obstacle !== null) {
      if (mayReserve) room.reserve(entry.id, lane, surroundingsOf(tables, request.workerId, jobIds));
      closed.set(lane, obstacle);
      close(lanes, best);
      continue;
    }
    if (request.prefetch && !mayBePrefetched(tables, entry, lane)) break;
    room.take(entry.id, lane);
    headroom.take(lane.queue);
    jobIds.push(entry.id);
    take(entry, best);
    if (line.size === 0) lanes.delete(best);
  }
  return { jobIds, closed, room };
}

/** Takes no more jobs of this lane, parked or not. */
function close(lanes: Set<LaneLine>, closed: LaneLine): void {
  lanes.delete(closed);
  if (!closed.lane.metered) return;
  const key = laneKey(closed.lane);
  for (const other of lanes) if (other.lane.metered && laneKey(other.lane) === key) lanes.delete(other);
}

/** Parks the job if one of its meters keeps it from starting. Claims then look at that parking when the meter opens. */
function parkIfFull(tables: Tables, entry: Entry, lanes: Set<LaneLine>): boolean {
  const full = fullMeter(metersOf(entry.spec), (name) => useOf(tables, name), tables.clock.now());
  if (full === undefined) return false;
  const { key, parking } = tables.live.parkings.closed(entry, full);
  lanes.delete(parking);
  if (entry.parkedIn !== key) change(tables, entry, { parkedIn: key });
  if (full.opensAt !== null) tables.changes.willBeDue(full.opensAt);
  return true;
}

/** Takes no more jobs with meters. Waiting claims look again. */
function leaveMetered(tables: Tables, lanes: Set<LaneLine>): void {
  for (const each of lanes) if (each.lane.metered) lanes.delete(each);
  tables.changes.madeWork();
}

/** Returns the lane with the most urgent job. Deletes lanes whose queue is paused or full. */
function bestOf(headroom: Headroom, lanes: Set<LaneLine>): LaneLine | undefined {
  let best: LaneLine | undefined;
  for (const candidate of lanes) {
    if (headroom.left(candidate.lane.queue) <= 0) lanes.delete(candidate);
    else if (best === undefined || isAhead(candidate.line.peek() as Entry, best.line.peek() as Entry)) best = candidate;
  }
  return best;
}

/** How many more jobs of each queue may run. */
export class Headroom {
  readonly #tables: Tables;
  readonly #kept: (queue: string) => number;
  readonly #left = new Map<string, number>();

  /** `kept`: how many of them are left to members of gangs; none where the members themselves ask. */
  constructor(tables: Tables, kept: (queue: string) => number = () => 0) {
    this.#tables = tables;
    this.#kept = kept;
  }

  /** How many could start if none had before. */
  most(queue: string): number {
    const row = this.#tables.queues.get(queue);
    return row === undefined ? Infinity : mostOf(row);
  }

  left(queue: string): number {
    const left = this.#left.get(queue) ?? this.#read(queue);
    this.#left.set(queue, left);
    return left;
  }

  take(queue: string): void {
    this.#left.set(queue, this.left(queue) - 1);
  }

  #read(queue: string): number {
    const row = this.#tables.queues.get(queue);
    if (row === undefined) return Infinity;
    if (row.pausedAt !== null) return 0;
    const unused = row.maxRunning === null ? Infinity : row.maxRunning - this.#tables.live.counts(queue).running;
    const room = queueRoom(this.#tables, queue);
    if (room?.opensAt != null) this.#tables.changes.willBeDue(room.opensAt);
    const left = Math.min(unused, room?.left ?? Infinity);
    return left === Infinity ? left : left - this.#kept(queue);
  }
}

/** `taken`: the jobs that this claim takes, which the room counts itself. */
function surroundingsOf(tables: Tables, workerId: number, taken: readonly number[]): Surroundings {
  const now = tables.clock.now();
  return {
    now,
    total: tables.workers.get(workerId)?.profile.resources ?? {},
    uses: tables.live
      .heldBy(workerId)
      .filter(({ id }) => !taken.includes(id))
      .map(({ spec, startedAt }) => ({ resources: spec.resources, endsAt: latestEnd(spec, startedAt ?? now) })),
    timesOf: (jobId) => (tables.jobs.get(jobId) as Entry).spec,
    reservations: validReservations(tables),
  };
}

/** Reservations of workers that may claim, for jobs that can still be claimed. */
export function validReservations(tables: Tables): StoredReservation[] {
  const now = tables.clock.now();
  return [...tables.reservations.values()].filter(
    ({ workerId, jobId, renewedAt }) =>
      now - renewedAt <= RESERVATION_MS &&
      tables.jobs.get(jobId)?.status === 'pending' &&
      mayClaim(tables, tables.workers.get(workerId)),
  );
}
function mayBePrefetched(tables: Tables, entry: Entry, lane: Lane): boolean {
  const queue = tables.queues.get(lane.queue);
  const isLimited = queue?.maxRunning != null || queue?.rate != null;
  return laneMayPrefetch(lane) && mayPrefetch(entry.spec) && entry.counters.failures === 0 && !isLimited;
}

function hand(
  tables: Tables,
  entry: Entry,
  { request, parentEnds }: { request: ClaimRequest; parentEnds: Map<number, ParentEnd> },
): ClaimedJob {
  const { workerId, claimSeq, prefetch = false } = request;
  const now = tables.clock.now();
  change(tables, entry, {
    status: 'running',
    attempt: entry.attempt + 1,
    workerId,
    claimSeq,
    startedAt: prefetch ? null : now,
    renewedAt: claimSeq === null ? now : null,
  });
  noteStart(tables, entry);
  dropKey(tables, entry, ['pending']);
  tables.changes.changedJob(entry.id);
  stepStarted(tables, entry);
  return toClaimedJob({ ...entry, startedAt: now }, prefetch, runContextOf(tables, entry, parentEnds));
}
