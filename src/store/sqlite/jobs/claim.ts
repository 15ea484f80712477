import { WorkronError } from '../../../core/error.ts';
import { fits, type Lane, serves } from '../../../core/lane.ts';
import { laneMayPrefetch } from '../../../core/prefetch.ts';
import { FLAG } from '../../flags.ts';
import { Heap } from '../../heap.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { type RunContextAnswer, readRunContext } from '../graph/run-context.ts';
import { CLAIMED, type ClaimedRow } from '../reads/job-row.ts';
import { type ClaimOrder, isAhead, LaneCursor } from './lane-cursor.ts';

export interface ClaimAnswer {
  /** `ClaimedRow[]` as JSON: text is the cheapest to send. */
  rows: string;
  startedAt: number;
  /** `null` if none of the jobs has a run context. */
  runContext: RunContextAnswer | null;
}

export interface WorkerState {
  state: string;
  draining: number;
  silent: number;
}

export function claim(context: Context, request: ClaimRequest): ClaimAnswer {
  const rows = claimRows(context, request);
  return { rows: JSON.stringify(rows), startedAt: context.now, runContext: readRunContext(context, rows) };
}

function claimRows(context: Context, request: ClaimRequest): ClaimedRow[] {
  const { database, now, effects } = context;
  const worker = database.get<WorkerState>(sql.workerState, request.workerId, now);
  if (worker === undefined || worker.state === 'offline') {
    throw new WorkronError('worker_not_found', `Worker ${request.workerId} is not registered; register again`);
  }
  if (worker.draining || worker.silent) return [];

  const ids = request.prefetch ? choosePrefetch(context, request) : choose(context, request);
  if (ids.length === 0) return [];
  const chosen = JSON.stringify(ids);
  database.run(sql.takeJobs, chosen, request.workerId, request.claimSeq, now, request.prefetch ? 1 : 0);
  const rows = database.tuples<ClaimedRow>(sql.claimedJobs, chosen);
  const keyed = rows.filter((row) => row[CLAIMED.flags] & FLAG.holdsKey).map(([id]) => id);
  if (keyed.length > 0) database.run(sql.freePendingKeys, JSON.stringify(keyed));
  for (const id of ids) effects.changedJob(id);
  return inOrder(rows, ids);
}

/** Returns the most urgent jobs up to the first that must not be prefetched. */
function choosePrefetch(context: Context, request: ClaimRequest): number[] {
  const ids = choose(context, request);
  const must = new Set(context.database.tuples<[number]>(sql.mustStart, JSON.stringify(ids)).map(([id]) => id));
  const first = ids.findIndex((id) => must.has(id));
  return first === -1 ? ids : ids.slice(0, first);
}

/** Returns the most urgent jobs of all lanes that this worker can run, in order. */
function choose(context: Context, { offer, limit, prefetch = false }: ClaimRequest): number[] {
  const { database, lanes } = context;
  const room = new Room(context, offer.free);
  const open = database
    .tuples<[number]>(sql.pendingLanes)
    .map(([id]) => ({ id, lane: lanes.laneOf(id) }))
    .filter(({ lane }) => serves(offer, lane));
  const cursors = new Heap<LaneCursor>(isMoreUrgent);
  for (const { id, lane } of open) {
    const cursor = new LaneCursor(database, { id, lane, limit, alone: open.length === 1 });
    if (cursor.head !== undefined) cursors.add(cursor);
  }
  const ids: number[] = [];
  for (let best = cursors.peek(); best !== undefined && ids.length < limit; best = cursors.peek()) {
    // The cursor leaves the heap while its head changes.
    cursors.delete(best);
    if (!room.has(best.lane)) continue;
    if (prefetch && (!laneMayPrefetch(best.lane) || room.isLimited(best.lane))) break;
    const rival = cursors.peek();
    while (ids.length < limit && best.head !== undefined && room.has(best.lane)) {
      if (rival !== undefined && isMoreUrgent(rival, best)) break;
      ids.push(best.take());
      room.take(best.lane);
    }
    if (best.head !== undefined) cursors.add(best);
  }
  return ids;
}

/** Compares the heads of two lanes. Both lanes must have a head. */
function isMoreUrgent(a: LaneCursor, b: LaneCursor): boolean {
  return isAhead(a.head as ClaimOrder, b.head as ClaimOrder);
}

function inOrder(rows: readonly ClaimedRow[], ids: readonly number[]): ClaimedRow[] {
  const byId = new Map(rows.map((row) => [row[CLAIMED.id], row]));
  return ids.map((id) => byId.get(id) as ClaimedRow);
}

/** How many more jobs may be taken, by the queues' settings and the worker's free resources. */
class Room {
  readonly #context: Context;
  readonly #free: Record<string, number>;
  readonly #limits: Map<string, { paused: boolean; maxRunning: number | null }>;
  readonly #left = new Map<string, number>();

  constructor(context: Context, free: Readonly<Record<string, number>>) {
    this.#context = context;
    this.#free = { ...free };
    const rows = context.database.all<{ name: string; paused_at: number | null; max_running: number | null }>(
      sql.queueSettings,
    );
    this.#limits = new Map(
      rows.map((row) => [row.name, { paused: row.paused_at !== null, maxRunning: row.max_running }]),
    );
  }

  has(lane: Lane): boolean {
    return this.#leftIn(lane.queue) > 0 && fits(lane, this.#free, 1) > 0;
  }

  isLimited({ queue }: Lane): boolean {
    return this.#limits.get(queue)?.maxRunning != null;
  }

  take(lane: Lane): void {
    this.#left.set(lane.queue, this.#leftIn(lane.queue) - 1);
    for (const [name, amount] of Object.entries(lane.resources)) {
      this.#free[name] = (this.#free[name] ?? 0) - amount;
    }
  }

  #leftIn(queue: string): number {
    let left = this.#left.get(queue);
    if (left === undefined) {
      left = this.#limitOf(queue);
      this.#left.set(queue, left);
    }
    return left;
  }

  #limitOf(queue: string): number {
    const limits = this.#limits.get(queue);
    if (limits === undefined) return Infinity;
    if (limits.paused) return 0;
    if (limits.maxRunning === null) return Infinity;
    const running = this.#context.database.get<{ count: number }>(sql.countRunning, queue)?.count ?? 0;
    return limits.maxRunning - running;
  }
}
