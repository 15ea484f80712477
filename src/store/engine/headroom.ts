/** How many more jobs of queues may start, by the queues' settings. */

import { keptIn, type PlaceInLane } from '../../core/claim-places.ts';
import type { Lane } from '../../core/lane.ts';
import type { Meter } from '../../core/meter.ts';
import { mostOf, type QueueSettings } from '../../core/queue.ts';
import { columns } from '../sql/columns.ts';
import { anyOf, locking, sql } from '../sql/sql.ts';
import type { Tx } from '../sql/tx.ts';
import { readQueueRooms } from './meter-use.ts';
import { fromHeld } from './standing.ts';

/** A queue that is paused, or has a limit or a rate. */
interface LimitedQueue {
  name: string;
  paused: boolean;
  maxRunning: number | null;
  rate: QueueSettings['rate'];
}

const limitedQueue = columns<LimitedQueue>({ name: 'text', paused: 'bool', maxRunning: 'int', rate: 'json' });
const runningRow = columns<{ queue: string; count: number }>({ queue: 'text', count: 'bigint' });

/** How many more jobs may run, by queue. Queues without a limit are left out. */
export type Headroom = ReadonlyMap<string, number>;

export interface QueueState {
  headroom: Headroom;
  /** How many could start if none had before, by queue. Queues without a limit are left out. */
  most: Headroom;
  /** The meters of queues that have a rate, by queue. */
  meters: ReadonlyMap<string, Meter>;
  /** When the first rate that is full allows a start again. */
  opensAt: number | null;
}

/** How many more jobs of a lane may run. */
export function leftIn(headroom: Headroom): (lane: Pick<Lane, 'queue'>) => number {
  return ({ queue }) => headroom.get(queue) ?? Number.POSITIVE_INFINITY;
}

/** Of queues that are paused or limited. With `lock`, these stay locked, so that no other claim can start one of their jobs meanwhile. */
export async function readHeadroom(
  tx: Tx,
  queues: readonly string[],
  { lock = false }: { lock?: boolean } = {},
): Promise<QueueState> {
  const limited = await tx.all(
    limitedQueue,
    sql`select name, paused_at is not null as paused, max_running, rate from queue where name ${anyOf(queues, 'text')}
      and (paused_at is not null or max_running is not null or rate is not null)
      ${lock ? locking('order by name collate "C" for update') : sql``}`,
  );
  if (limited.length === 0) return { headroom: new Map(), most: new Map(), meters: new Map(), opensAt: null };
  const names = limited.filter(({ maxRunning }) => maxRunning !== null).map(({ name }) => name);
  // In a later statement than the locks: it sees what they have waited for.
  const counts = names.length === 0 ? [] : await countRunning(tx, names);
  const running = new Map(counts.map(({ queue, count }) => [queue, count]));
  const { rooms, meters } = await readQueueRooms(tx, limited);
  const left = limited.map(({ name, paused, maxRunning }) => {
    if (paused) return [name, 0] as const;
    const unused = maxRunning === null ? Number.POSITIVE_INFINITY : maxRunning - (running.get(name) ?? 0);
    return [name, Math.min(unused, rooms.get(name)?.left ?? Number.POSITIVE_INFINITY)] as const;
  });
  const openings = [...rooms.values()].flatMap((room) => room.opensAt ?? []);
  return {
    headroom: new Map(left),
    most: new Map(limited.map((queue) => [queue.name, mostOf(queue)])),
    meters,
    opensAt: openings.length === 0 ? null : Math.min(...openings),
  };
}

/** The number of running jobs, without groups. */
function countRunning(tx: Tx, queues: readonly string[]) {
  return tx.all(
    runningRow,
    sql`select n.queue, count(*) as count from (select distinct l.job_id, l.lane ${fromHeld(sql`is not null`)}) h
      join lane n on n.id = h.lane where n.queue ${anyOf(queues, 'text')} group by n.queue`,
  );
}

/** What is left to single jobs: a part is kept for members of gangs. */
export function withoutKept(headroom: Headroom, places: readonly PlaceInLane[]): Headroom {
  return new Map([...headroom].map(([queue, left]) => [queue, left - keptIn({ queue }, places)]));
}
