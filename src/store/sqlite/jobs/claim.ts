import { WorkronError } from '../../../core/error.ts';
import { fits, type Lane, serves } from '../../../core/lane.ts';
import { laneMayPrefetch } from '../../../core/prefetch.ts';
import { FLAG } from '../../flags.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { type RunContextAnswer, readRunContext } from '../graph/run-context.ts';
import { CLAIMED, type ClaimedRow } from '../reads/job-row.ts';
import { FIRST_PIECE, isAhead, LaneCursor, readPieces } from './lane-cursor.ts';
import type { LaneHead } from './lane-heads.ts';

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

  const ids = request.prefetch ? choosePrefetch(context, request) : choose(context, request).map(({ id }) => id);
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
  const chosen = choose(context, request);
  const ids = JSON.stringify(chosen.map(({ id }) => id));
  const must = new Set(context.database.tuples<[number]>(sql.mustStart, ids).map(([id]) => id));
  const first = chosen.findIndex(({ id }) => must.has(id));
  if (first === -1) return chosen.map(({ id }) => id);
  for (const { lane } of chosen.slice(first)) context.heads.change(lane);
  return chosen.slice(0, first).map(({ id }) => id);
}

interface Chosen {
  id: number;
  lane: number;
}

/** Returns the most urgent jobs of all lanes that this worker can run, in order. */
function choose(context: Context, request: ClaimRequest): Chosen[] {
  const { heads, effects, now } = context;
  if (effects.reordered) heads.forget();
  heads.refresh(now);
  return new Choice(context, request).make();
}

/** The maximum number of lanes that one statement reads. */
const LANES_PER_READ = 256;

/** One claim's way through the lanes, from head to head. */
class Choice {
  readonly #chosen: Chosen[] = [];
  readonly #context: Context;
  readonly #request: ClaimRequest;
  readonly #room: Room;
  readonly #cursors = new Map<LaneHead, LaneCursor>();
  /** Lanes that this claim takes no (more) jobs from. */
  readonly #aside: LaneHead[] = [];

  constructor(context: Context, request: ClaimRequest) {
    this.#context = context;
    this.#request = request;
    this.#room = new Room(context, request.offer.free);
  }

  make(): Chosen[] {
    const { heads } = this.#context;
    for (let best = heads.peek(); best !== undefined && !this.#isFull; best = heads.peek()) {
      // The head leaves the heap while its order changes.
      heads.take(best);
      if (!serves(this.#request.offer, best.lane) || !this.#room.has(best.lane)) {
        this.#aside.push(best);
        continue;
      }
      const cursor = this.#cursorOf(best);
      // The job that was the first has left: another lane may be next.
      const isFirst = cursor.head !== undefined && !isAhead(best.order, cursor.head);
      if (isFirst && this.#endsPrefetch(best.lane)) {
        heads.put(best, best.order);
        break;
      }
      if (isFirst) this.#takeFrom(best, cursor);
      // At the limit the cursor reads no further: the lane may have more jobs.
      heads.put(best, cursor.head ?? (this.#isFull ? best.order : undefined));
    }
    for (const head of this.#aside) heads.put(head, head.order);
    return this.#chosen;
  }

  get #isFull(): boolean {
    return this.#chosen.length >= this.#request.limit;
  }

  #endsPrefetch(lane: Lane): boolean {
    return this.#request.prefetch === true && (!laneMayPrefetch(lane) || this.#room.isLimited(lane));
  }

  /** Takes jobs of a lane for as long as they come before those of all others. */
  #takeFrom(best: LaneHead, cursor: LaneCursor): void {
    const rival = this.#context.heads.peek();
    while (!this.#isFull && cursor.head !== undefined && this.#room.has(best.lane)) {
      if (rival !== undefined && isAhead(rival.order, cursor.head)) break;
      this.#chosen.push({ id: cursor.take(), lane: best.id });
      this.#room.take(best.lane);
    }
  }

  #cursorOf(head: LaneHead): LaneCursor {
    const known = this.#cursors.get(head);
    if (known !== undefined) return known;
    const { database, heads } = this.#context;
    const wanted = Math.min(LANES_PER_READ, this.#request.limit - this.#chosen.length);
    const next = [head, ...this.#nextHeads(wanted - 1)];
    const pieces = readPieces(database, next, heads.size === 0 ? this.#request.limit : FIRST_PIECE);
    for (const each of next) {
      const { id } = each;
      this.#cursors.set(each, new LaneCursor(database, { id, limit: this.#request.limit, ...pieces(id) }));
    }
    return this.#cursors.get(head) as LaneCursor;
  }

  /** The heads that are probably next, and whose lanes have not been read. */
  #nextHeads(count: number): LaneHead[] {
    const { heads } = this.#context;
    const passed: LaneHead[] = [];
    for (let next = heads.peek(); next !== undefined && passed.length < count; next = heads.peek()) {
      heads.take(next);
      passed.push(next);
    }
    for (const head of passed) heads.put(head, head.order);
    return passed.filter((head) => !this.#cursors.has(head) && serves(this.#request.offer, head.lane));
  }
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
