/** Plans a claim where resources or limits decide: the most urgent jobs first, as long as they may start. */

import { type Obstacle, Room, type Surroundings } from '../../../core/capacity.ts';
import { type Lane, needsResources } from '../../../core/lane.ts';
import type { Choice } from '../../../core/outlook.ts';
import type { Headroom } from '../../engine/headroom.ts';
import type { ClaimRequest } from '../../job-store.ts';
import type { Session } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { numbers } from '../base/values.ts';
import type { Admission } from './admission.ts';
import type { Head } from './head.ts';
import type { KnownLane } from './lanes.ts';

export interface ClaimPlan extends Choice {
  /** How many of the first jobs to take from each lane. */
  counts: ReadonlyMap<number, number>;
  /** Jobs that pass a reservation or a meter. Others of their lane might not. */
  passing: readonly number[];
  /** Jobs that were not read may be able to start. */
  goesOn: boolean;
}

/** The first jobs of each lane, most urgent first: all that a claim may take, and the first that does not fit. */
export async function readHeads(
  sql: Sql,
  session: Session,
  { served, limit, headroom, room }: { served: readonly KnownLane[]; limit: number; headroom: Headroom; room: Room },
): Promise<Head[]> {
  if (served.length === 0) return [];
  const caps = served.map(({ lane }) => {
    const left = Math.max(0, Math.min(limit, headroom.get(lane.queue) ?? limit));
    return needsResources(lane) ? Math.min(left, room.fits(lane, limit) + 1) : left;
  });
  return await session.query<Head>(sql.laneHeads, [numbers(served.map(({ id }) => id)), numbers(caps)]);
}

interface Known {
  served: readonly KnownLane[];
  heads: readonly Head[];
  headroom: Headroom;
  admission: Admission;
  /** Less urgent jobs start although there may be more urgent ones that were not read. */
  mayPassUnread: boolean;
  /** What the worker holds for members of gangs. */
  held: readonly { lane: Lane }[];
  /** The number of jobs that the claim takes in any case. */
  taken: number;
}

/** Returns `undefined` if the plan depends on the surroundings, and they are not given. */
export function planClaim(
  request: ClaimRequest,
  { served, heads, held, taken, admission, mayPassUnread, ...given }: Known,
  surroundings: Surroundings | undefined,
): ClaimPlan | undefined {
  admission.begin();
  const room = new Room(request.workerId, request.offer.free);
  for (const { lane } of held) room.hold(lane);
  const limit = request.limit - held.length;
  const lanes = new Map(served.map(({ id, lane }) => [id, lane]));
  const headroom = new Map(given.headroom);
  const closed = new Map<Lane, Obstacle>();
  const counts = new Map<number, number>();
  const passing: number[] = [];
  const jobIds: number[] = [];
  let isAtSuspect = false;
  const isClosed = (laneId: number) => {
    const lane = lanes.get(laneId);
    return lane === undefined || closed.has(lane) || (headroom.get(lane.queue) ?? 1) <= 0;
  };
  for (const head of heads) {
    if (jobIds.length >= limit || (!mayPassUnread && admission.isBeyond(head, isClosed))) break;
    const jobId = head.job_id;
    const laneId = admission.laneOf(head.lane);
    const lane = lanes.get(laneId);
    if (lane === undefined || closed.has(lane)) continue;
    const left = headroom.get(lane.queue);
    if (left !== undefined && left <= 0) continue;
    const obstacle = room.obstacleTo(jobId, lane);
    const mayReserve = obstacle === 'short' && room.mayReserve(lane);
    if (lane.metered && (obstacle === null || mayReserve) && !admission.admits(head)) continue;
    if (obstacle !== null) {
      if (mayReserve) {
        if (surroundings === undefined) return undefined;
        room.reserve(jobId, lane, surroundings);
      }
      closed.set(lane, obstacle);
      continue;
    }
    isAtSuspect = head.suspect ?? false;
    if (isAtSuspect && jobIds.length + taken > 0) break;
    room.take(jobId, lane);
    if (left !== undefined) headroom.set(lane.queue, left - 1);
    jobIds.push(jobId);
    if (lane.metered) admission.take(jobId);
    if (room.reservation === null && !lane.metered) counts.set(laneId, (counts.get(laneId) ?? 0) + 1);
    else passing.push(jobId);
    if (isAtSuspect) break;
  }
  const goesOn = !isAtSuspect && jobIds.length < limit && admission.hasUnread(isClosed);
  return { jobIds, closed, room, counts, passing, goesOn };
}
