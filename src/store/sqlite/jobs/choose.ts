/** Chooses the jobs of a claim. */

import { type Obstacle, Room, type Surroundings } from '../../../core/capacity.ts';
import { type HeldPlace, heldBy, type PlaceInLane } from '../../../core/claim-places.ts';
import { type Lane, serves } from '../../../core/lane.ts';
import type { Choice as Chosen } from '../../../core/outlook.ts';
import { laneMayPrefetch } from '../../../core/prefetch.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import type { Admission } from './admission.ts';
import { Headroom } from './headroom.ts';
import { type ClaimOrder, FIRST_PIECE, isAhead, LaneCursor, readPieces } from './lane-cursor.ts';
import type { LaneHead } from './lane-heads.ts';
import { surroundingsOf } from './reservations.ts';

export interface ClaimChoice extends Chosen {
  headroom: Headroom;
  /** The lane of each job. */
  lanes: readonly number[];
}

interface Choosing {
  admission: Admission | null;
  /** The places of gangs before the claim. */
  places: readonly PlaceInLane[];
  /** The members that the claim starts. */
  members: readonly HeldPlace[];
  suspects: ReadonlySet<number>;
}

/**
 * Chooses the most urgent jobs of all lanes that this worker can run, in order. Without `admission`, for a prefetch, meters are
 * left aside, and parked jobs are left out.
 */
export function choose(context: Context, request: ClaimRequest, choosing: Choosing): ClaimChoice {
  const { heads, effects, now } = context;
  if (effects.reordered) heads.forget();
  heads.refresh(now);
  const parkings = choosing.admission?.heads() ?? [];
  for (const head of parkings) heads.put(head, head.order);
  const choice = new Choice(context, request, choosing).make();
  for (const head of parkings) heads.take(head);
  return choice;
}

/** The maximum number of jobs with meters that one statement reads. */
const MAX_READ = 1_000;

/** The maximum number of lanes that one statement reads. */
const LANES_PER_READ = 256;

/** One claim's way through the lanes, from head to head. */
class Choice {
  readonly #jobIds: number[] = [];
  readonly #lanes: number[] = [];
  readonly #closed = new Map<Lane, Obstacle>();
  /** Parkings of which no job may start. */
  readonly #full = new Set<LaneHead>();
  readonly #context: Context;
  readonly #request: ClaimRequest;
  readonly #admission: Admission | null;
  readonly #members: readonly HeldPlace[];
  readonly #suspects: ReadonlySet<number>;
  /** The next job, or the last one taken, is a suspect. */
  #isAtSuspect = false;
  readonly #room: Room;
  readonly #headroom: Headroom;
  #surroundings: Surroundings | undefined;
  readonly #cursors = new Map<LaneHead, LaneCursor>();
  /** Lanes that this claim takes no (more) jobs from. */
  readonly #aside: LaneHead[] = [];

  constructor(context: Context, request: ClaimRequest, { admission, places, members, suspects }: Choosing) {
    const held = heldBy(request.workerId, places);
    this.#context = context;
    this.#request = { ...request, limit: request.limit - held.length };
    this.#admission = admission;
    this.#members = members;
    this.#suspects = suspects;
    this.#room = new Room(request.workerId, request.offer.free);
    for (const { lane } of held) this.#room.hold(lane);
    this.#headroom = new Headroom(context, places);
  }

  make(): ClaimChoice {
    const { heads } = this.#context;
    for (let best = heads.peek(); best !== undefined && !this.#isFull; best = heads.peek()) {
      // The head leaves the heap while its order changes.
      heads.take(best);
      if (!serves(this.#request.offer, best.lane) || this.#closed.has(best.lane) || !this.#hasRoom(best.lane)) {
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
      if (this.#full.has(best)) continue;
      // At the limit the cursor reads no further: the lane may have more jobs.
      const order = cursor.head ?? (this.#isFull ? best.order : undefined);
      if (order !== undefined && this.#closed.has(best.lane)) this.#setAside(best, order);
      else heads.put(best, order);
    }
    for (const head of this.#aside) heads.put(head, head.order);
    return {
      jobIds: this.#jobIds,
      lanes: this.#lanes,
      closed: this.#closed,
      room: this.#room,
      headroom: this.#headroom,
    };
  }

  #setAside(head: LaneHead, order: ClaimOrder): void {
    head.order = order;
    this.#aside.push(head);
  }

  /** True if the lane has to be read: its first job may start, or get a reservation. */
  #hasRoom(lane: Lane): boolean {
    if (this.#headroom.left(lane.queue) <= 0 || (lane.metered && this.#admission?.isOver)) return false;
    if (this.#room.fits(lane, 1) > 0 || (!this.#request.prefetch && this.#room.mayReserve(lane))) return true;
    this.#closed.set(lane, 'short');
    return false;
  }

  get #isFull(): boolean {
    return this.#isAtSuspect || this.#jobIds.length >= this.#request.limit;
  }

  #endsPrefetch(lane: Lane): boolean {
    return this.#request.prefetch === true && (!laneMayPrefetch(lane) || this.#headroom.isLimited(lane.queue));
  }

  /** Takes jobs of a lane for as long as they come before those of all others. */
  #takeFrom(best: LaneHead, cursor: LaneCursor): void {
    const rival = this.#context.heads.peek();
    while (!this.#isFull && cursor.head !== undefined && this.#headroom.left(best.lane.queue) > 0) {
      if (rival !== undefined && isAhead(rival.order, cursor.head)) break;
      const answer = this.#judge(best, cursor.head[3]);
      this.#isAtSuspect = answer === 'start' && this.#suspects.has(cursor.head[3]);
      if (this.#isAtSuspect && this.#jobIds.length + this.#members.length > 0) break;
      if (answer === 'closed' || (best.lane.metered && this.#admission?.isOver)) break;
      const id = cursor.take();
      if (answer === 'parked') continue;
      this.#jobIds.push(id);
      this.#lanes.push(best.id);
      this.#room.take(id, best.lane);
      this.#headroom.take(best.lane.queue);
      if (best.lane.metered) this.#admission?.take(id);
    }
  }

  /** Closes the lane if its first job may not start, unless that is because of a meter: then others may. */
  #judge(best: LaneHead, jobId: number): 'start' | 'parked' | 'closed' {
    const { lane } = best;
    const obstacle = this.#room.obstacleTo(jobId, lane);
    const mayReserve = obstacle === 'short' && !this.#request.prefetch && this.#room.mayReserve(lane);
    if (lane.metered && (obstacle === null || mayReserve)) {
      const answer = this.#admission?.admits(jobId, best) ?? 'start';
      if (answer === 'closed') this.#full.add(best);
      if (answer !== 'start') return answer;
    }
    if (obstacle === null) return 'start';
    if (mayReserve) {
      this.#surroundings ??= surroundingsOf(this.#context, this.#request.workerId, this.#members);
      this.#room.reserve(jobId, lane, this.#surroundings);
    }
    this.#closed.set(lane, obstacle);
    return 'closed';
  }

  #cursorOf(head: LaneHead): LaneCursor {
    const known = this.#cursors.get(head);
    if (known !== undefined) return known;
    const { database, heads } = this.#context;
    const wanted = Math.min(LANES_PER_READ, this.#request.limit - this.#jobIds.length);
    const next = [head, ...this.#nextHeads(wanted - 1)];
    const pieces = readPieces(database, next, heads.size === 0 ? this.#request.limit : FIRST_PIECE);
    for (const each of next) {
      const { id, lane } = each;
      const limit = lane.metered ? MAX_READ : this.#request.limit;
      this.#cursors.set(each, new LaneCursor(database, { id, limit, endless: lane.metered, ...pieces(id) }));
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
