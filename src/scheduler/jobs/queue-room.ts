/** Describes in one sentence that a queue has no room for a gang, or keeps its room for one. */

import { type MeterUse, nextStart, queueMeter, roomOf } from '../../core/meter.ts';
import type { QueueState } from '../../core/queue.ts';
import type { SchedulerContext } from '../context.ts';
import { startOf } from './position.ts';

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
): Promise<string | null> {
  const { name, maxRunning, running } = queue;
  const needs = `and its gang needs ${needed} at once`;
  if (maxRunning !== null && maxRunning - running < needed) {
    return `places in queue ${name}: ${running} of ${maxRunning} run (max_running), ${needs}`;
  }
  const rate = await rateOf(store, queue, signal);
  if (rate === null || rate.left >= needed) return null;
  return `the rate of queue ${name}: ${rate.left} may start now, ${needs}${startOf(rate.startOf(needed))}`;
}

/** `null` if the rate of the queue has more left than what is kept for gangs. */
export async function rateKept(
  store: Store,
  { queue, kept }: { queue: QueueState; kept: number },
  signal: AbortSignal,
): Promise<string | null> {
  const rate = kept === 0 ? null : await rateOf(store, queue, signal);
  if (rate === null || rate.left > kept) return null;
  return `the rate of queue ${queue.name}: ${rate.left} may start now, which is kept for gangs`;
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
