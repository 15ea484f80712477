/** How many more jobs of queues may start, by the queues' settings. */

import { keptIn, type PlaceInLane } from '../../../core/claim-places.ts';
import type { Meter } from '../../../core/meter.ts';
import { mostOf } from '../../../core/queue.ts';
import { readQueueRooms } from '../../engine/meter-use.ts';
import type { Context } from '../base/context.ts';
import type { CountingSession, Statement } from '../base/database.ts';
import { txOn } from '../base/engine.ts';
import type { KnownLane } from './lanes.ts';
import type { LimitedQueue } from './meters.ts';

/** How many more jobs may run, by queue. Queues without a limit are left out. */
export type Headroom = ReadonlyMap<string, number>;

interface QueueState {
  headroom: Headroom;
  /** How many could start if none had before, by queue. Queues without a limit are left out. */
  most: Headroom;
  /** The meters of queues that have a rate, by queue. */
  meters: ReadonlyMap<string, Meter>;
  /** When the first rate that is full allows a start again. */
  opensAt: number | null;
}

const NO_LIMITS: QueueState = { headroom: new Map(), most: new Map(), meters: new Map(), opensAt: null };

/**
 * Returns how many more jobs of each queue that is paused or limited may run. With `lockQueues`, the queues stay locked, so no other claim can start
 * one meanwhile.
 */
export async function readHeadroom(
  context: Context,
  session: CountingSession,
  served: readonly KnownLane[],
  limits: Statement,
): Promise<QueueState> {
  const { sql } = context;
  const queues = [...new Set(served.map(({ lane }) => lane.queue))];
  const limited = await session.query<LimitedQueue>(limits, [queues]);
  if (limited.length === 0) return NO_LIMITS;
  const names = limited.filter(({ max_running }) => max_running !== null).map(({ name }) => name);
  const running =
    names.length === 0 ? [] : await session.query<{ queue: string; count: number }>(sql.countRunning, [names]);
  const counts = new Map(running.map(({ queue, count }) => [queue, count]));
  const { rooms, meters } = await readQueueRooms(txOn(context, session), limited);
  const left = limited.map(({ name, paused, max_running }) => {
    if (paused) return [name, 0] as const;
    const unused = max_running === null ? Number.POSITIVE_INFINITY : max_running - (counts.get(name) ?? 0);
    return [name, Math.min(unused, rooms.get(name)?.left ?? Number.POSITIVE_INFINITY)] as const;
  });
  const opensAt = [...rooms.values()].flatMap((room) => room.opensAt ?? []);
  const most = limited.map(({ name, max_running, rate }) => [name, mostOf({ maxRunning: max_running, rate })] as const);
  const first = opensAt.length === 0 ? null : Math.min(...opensAt);
  return { headroom: new Map(left), most: new Map(most), meters, opensAt: first };
}

/** What is left to single jobs: a part is kept for members of gangs. */
export function withoutKept(headroom: Headroom, places: readonly PlaceInLane[]): Headroom {
  return new Map([...headroom].map(([queue, left]) => [queue, left - keptIn({ queue }, places)]));
}
