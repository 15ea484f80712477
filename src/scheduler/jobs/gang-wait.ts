/** Describes in one sentence what a member of a gang waits for. */

import type { Gang, Place } from '../../core/gang.ts';
import { isWaiting, type Job, type Status, TERMINAL_STATUSES } from '../../core/job.ts';
import { laneOf } from '../../core/lane.ts';
import { countPlaces } from '../../core/place-gangs.ts';
import type { QueueState } from '../../core/queue.ts';
import type { SchedulerContext } from '../context.ts';
import { gangMembers } from './gang-members.ts';
import { shortFor } from './queue-room.ts';

/** `null` if the gang of the job does not matter now. */
export async function gangOf({ store }: SchedulerContext, job: Job, signal: AbortSignal): Promise<string | null> {
  const { gang } = job;
  if (gang === null || isGroup(job)) return null;
  if (job.status === 'running') return job.gangStop ? 'its worker to stop it: its gang starts again' : null;
  if (!isWaiting(job.status)) return null;
  const places = (await store.places(signal)).filter(({ gangId }) => gangId === gang.id);
  const own = places.find(({ jobId }) => jobId === job.id);
  if (own?.success != null && job.status === 'blocked') {
    const succeeded = places.filter(({ success }) => success !== null).length;
    return `its gang: ${succeeded} of ${own.size} members have succeeded, and this one is among them`;
  }
  if (job.status !== 'pending') return null;
  const queue = (await store.queues(signal)).find(({ name }) => name === job.queue);
  if (queue?.paused) return `queue ${job.queue} to be resumed: it is paused`;
  if (own?.workerId === null && places.some(({ started }) => started)) {
    return `its gang, which has started with ${own.size} of ${gang.size} members: this one had no place, and is skipped if they succeed`;
  }
  if (own?.started) return 'its gang: the other members are being stopped, then all start again';
  if (own === undefined && places.length > 0) {
    return `its gang: ${places.length} of ${gang.size} members are in an earlier run; it starts when they have ended`;
  }
  return own !== undefined
    ? await placesLeft(store, { places, queue }, signal)
    : await roomFor(store, { job: { ...job, gang }, queue }, signal);
}

/** A group has the gang of its items. */
function isGroup({ gang, groupId, workflowId }: Job): boolean {
  return gang !== null && workflowId !== null && groupId === null;
}

async function placesLeft(
  store: SchedulerContext['store'],
  { places: all, queue }: { places: readonly Place[]; queue: QueueState | undefined },
  signal: AbortSignal,
): Promise<string> {
  const places = all.filter(({ workerId }) => workerId !== null);
  const open = places.find(({ accepted }) => !accepted);
  if (open === undefined) {
    const needed = places.filter(({ started }) => !started).length;
    const short = queue === undefined ? null : await shortFor(store, { queue, needed }, signal);
    return short ?? 'its worker to start it: all places of its gang are held';
  }
  const held = places.filter(({ accepted }) => accepted).length;
  const worker = (await store.workers(signal)).find(({ id }) => id === open.workerId);
  return `the places of its gang: ${held} of ${places.length} are held; worker ${open.workerId} (${worker?.name ?? 'gone'}) has no room yet`;
}

async function roomFor(
  store: SchedulerContext['store'],
  { job, queue }: { job: Job & { gang: Gang }; queue: QueueState | undefined },
  signal: AbortSignal,
): Promise<string> {
  const { id, size } = job.gang;
  const count = async (statuses: readonly Status[]) => (await gangMembers({ store }, { id, statuses }, signal)).length;
  const waiting = await count(['pending']);
  const hasBegun = job.attempt > 0 || (await store.gangs([id], signal)).length > 0;
  const goesAlone = job.gang.onMemberFailure === 'continue' && hasBegun;
  if (waiting < size && !goesAlone) {
    const hasEnded = (await count(TERMINAL_STATUSES)) > 0;
    const rest = hasEnded ? 'another one has ended, so this one is about to be cancelled' : 'the others are due later';
    return `its gang: ${waiting} of ${size} members wait; ${rest}`;
  }
  const wanted = { gang: job.gang, lane: laneOf(job), members: { length: waiting } };
  const { min } = job.gang;
  const least = Math.min(min, waiting);
  const needs = `and its gang starts with at least ${least}`;
  const most = queue?.maxRunning ?? null;
  if (most !== null && most < least) return `a higher max_running of queue ${job.queue}: it is ${most}, ${needs}`;
  const rate = queue?.rate ?? null;
  if (rate !== null && rate.limit + rate.burst < least) {
    return `a higher rate of queue ${job.queue}: it lets ${rate.limit + rate.burst} start at once, ${needs}`;
  }
  const places =
    waiting < size
      ? `places for ${waiting} of the ${size} members of its gang`
      : `places for a gang of ${min < size ? `${min} to ${size}` : size}`;
  const { free, idle } = countPlaces(wanted, await store.workers(signal));
  if (idle < least) return `${places}: all online workers together have fewer, even when idle: ${idle}`;
  const short = queue === undefined ? null : await shortFor(store, { queue, needed: least }, signal);
  if (short !== null) return short;
  return `${places}: ${free} are free now; the workers are busy, or another gang comes first`;
}
