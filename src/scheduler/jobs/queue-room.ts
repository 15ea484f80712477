/** Whether a queue has no room for a gang, or keeps its room for one. */

import type { Waiting } from '../../api/waiting.ts';
import { type MeterUse, nextStart, queueMeter, roomOf } from '../../core/meter.ts';
import type { QueueState } from '../../core/queue.ts';
import type { SchedulerContext } from '../context.ts';
import { instantOrNull } from './position.ts';

type Store = SchedulerContext['store'];

/** How many of the jobs that may start in a queue are members of gangs that have places. Single jobs leave that to them. */
export async function keptForGangs(store: Store, queue: string, signal: AbortSignal): Promise<number> {
  const places = (await store.places(signal)).filter(({ workerId, started }) => workerId !== null && !started);
  const members = await store.read(
    places.map(({ jobId }) => jobId),
    signal,
  );
  return members.filter((member) => member.status === 'pending' && member.queue === queue).length;
}

/** `null` if `needed` members of a gang may start now. */
export async function shortFor(
  store: Store,
  { queue, needed }: { queue: QueueState; needed: number },
  signal: AbortSignal,
): Promise<Waiting | null> {
  const { name, maxRunning, running } = queue;
  if (maxRunning !== null && maxRunning - running < needed) {
    return { code: 'gang_queue_full', queue: name, running, max: maxRunning, needed };
  }
  const rate = await rateOf(store, queue, signal);
  if (rate === null || rate.left >= needed) return null;
  const { left } = rate;
  return { code: 'gang_rate_left', queue: name, left, needed, starts_at: instantOrNull(rate.startOf(needed)) };
}

/** What the rate of the queue has left, if all of it is kept for gangs; else `null`. */
export async function rateKept(
  store: Store,
  { queue, kept }: { queue: QueueState; kept: number },
  signal: AbortSignal,
): Promise<number | null> {
  const rate = kept === 0 ? null : await rateOf(store, queue, signal);
  return rate === null || rate.left > kept ? null : rate.left;
}

async function rateOf(store: Store, { name, rate }: QueueState, signal: AbortSignal) {
  if (rate === null) return null;
  const meter = queueMeter(name, rate);
  const [uses, now] = await Promise.all([store.meterUse([meter.name], signal), store.now(signal)]);
  const use = uses[0] as MeterUse;
  return {
    left: roomOf(meter, use, now).left,
    /** When `count` may start at once. */
    startOf: (count: number) => nextStart(meter, use, { now, ahead: count - 1 }),
  };
}
