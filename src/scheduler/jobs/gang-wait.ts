/** What a member of a gang waits for. */

import type { Waiting } from '../../api/waiting.ts';
import type { Gang, Place } from '../../core/gang.ts';
import { isWaiting, type Job, type Status, TERMINAL_STATUSES } from '../../core/job.ts';
import { laneOf } from '../../core/lane.ts';
import { countPlaces } from '../../core/place-gangs.ts';
import type { QueueState } from '../../core/queue.ts';
import type { SchedulerContext } from '../context.ts';
import { gangMembers } from './gang-members.ts';
import { shortFor } from './queue-room.ts';

/** `null` if the gang of the job does not matter now. */
export async function gangOf({ store }: SchedulerContext, job: Job, signal: AbortSignal): Promise<Waiting | null> {
  const { gang } = job;
  if (gang === null || isGroup(job)) return null;
  if (job.status === 'running') return job.gangStop ? { code: 'stop', for_gang: true } : null;
  if (!isWaiting(job.status)) return null;
  const places = (await store.places(signal)).filter(({ gangId }) => gangId === gang.id);
  const own = places.find(({ jobId }) => jobId === job.id);
  if (own?.success != null && job.status === 'blocked') {
    const succeeded = places.filter(({ success }) => success !== null).length;
    return { code: 'gang_succeeded', succeeded, size: own.size };
  }
  if (job.status !== 'pending') return null;
  const queue = (await store.queues(signal)).find(({ name }) => name === job.queue);
  if (queue?.paused) return { code: 'paused', queue: job.queue };
  if (own?.workerId === null && places.some(({ started }) => started)) {
    return { code: 'gang_started', members: own.size, size: gang.size };
  }
  if (own?.started) return { code: 'gang_stopping' };
  if (own === undefined && places.length > 0) {
    return { code: 'gang_earlier', members: places.length, size: gang.size };
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
): Promise<Waiting> {
  const places = all.filter(({ workerId }) => workerId !== null);
  const open = places.find(({ accepted }) => !accepted);
  if (open === undefined) {
    const needed = places.filter(({ started }) => !started).length;
    const short = queue === undefined ? null : await shortFor(store, { queue, needed }, signal);
    return short ?? { code: 'gang_start' };
  }
  const held = places.filter(({ accepted }) => accepted).length;
  const row = (await store.workers(signal)).find(({ id }) => id === open.workerId);
  const worker = { id: String(open.workerId), name: row?.name ?? 'gone' };
  return { code: 'gang_places', held, members: places.length, worker };
}

async function roomFor(
  store: SchedulerContext['store'],
  { job, queue }: { job: Job & { gang: Gang }; queue: QueueState | undefined },
  signal: AbortSignal,
): Promise<Waiting> {
  const { id, size } = job.gang;
  const count = async (statuses: readonly Status[]) => (await gangMembers({ store }, { id, statuses }, signal)).length;
  const waiting = await count(['pending']);
  const hasBegun = job.attempt > 0 || (await store.gangs([id], signal)).length > 0;
  const goesAlone = job.gang.onMemberFailure === 'continue' && hasBegun;
  if (waiting < size && !goesAlone) {
    return { code: 'gang_incomplete', waiting, size, has_ended: (await count(TERMINAL_STATUSES)) > 0 };
  }
  const wanted = { gang: job.gang, lane: laneOf(job), members: { length: waiting } };
  const { min } = job.gang;
  const needed = Math.min(min, waiting);
  const most = queue?.maxRunning ?? null;
  if (most !== null && most < needed) return { code: 'gang_max_running', queue: job.queue, max: most, needed };
  const rate = queue?.rate ?? null;
  if (rate !== null && rate.limit + rate.burst < needed) {
    return { code: 'gang_rate', queue: job.queue, max: rate.limit + rate.burst, needed };
  }
  const { free, idle } = countPlaces(wanted, await store.workers(signal));
  const short = queue === undefined || idle < needed ? null : await shortFor(store, { queue, needed }, signal);
  return short ?? { code: 'gang_room', waiting, size, min, free, idle, needed };
}
