/** Describes in one sentence what a waiting job waits for. */

import { endOfSome } from '../../core/capacity.ts';
import { isTerminal, type Job } from '../../core/job.ts';
import { fits, laneOf, type Offer, serves } from '../../core/lane.ts';
import { type Outlook, offerOf } from '../../core/outlook.ts';
import type { QueueState } from '../../core/queue.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { SchedulerContext } from '../context.ts';
import { fullMeterOf } from './full-meter.ts';
import { gangOf } from './gang-wait.ts';
import { MAX_COUNTED, MAX_RUNNING, positionOf, startOf } from './position.ts';
import { keptForGangs, rateKept } from './queue-room.ts';

/** `null` if the job is not waiting. */
export async function waitingFor(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<string | null> {
  const gang = job.gang === null ? null : await gangOf(context, job, signal);
  if (gang !== null) return gang;
  switch (job.status) {
    case 'scheduled':
      return job.failures > 0 || job.snoozes > 0 || job.interruptions > 0
        ? `its next attempt at ${new Date(job.dueAt).toISOString()} (${job.failures} of ${job.maxAttempts} attempts have failed)`
        : `its start time, ${new Date(job.dueAt).toISOString()}`;
    case 'blocked':
      return await parentsOf(context, job, signal);
    case 'pending':
      return pendingFor(context, job, signal);
    case 'running':
      return job.cancelRequestedAt === null ? null : 'its worker to stop it, as asked';
    default:
      return null;
  }
}

/** Names the first parent that has not ended. */
async function parentsOf(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<string> {
  const parents = await context.store.read(
    job.dependsOn.map(({ jobId }) => jobId),
    signal,
  );
  const open = parents.filter(({ status }) => !isTerminal(status));
  const [first] = open;
  if (first === undefined) return 'its parents, which have ended: it is about to be judged';
  const name = first.stepKey ?? first.name;
  const others = open.length === 1 ? '' : `, and ${open.length - 1} more`;
  return `job ${first.id}${name === null ? '' : ` (${name})`}, which is ${first.status}${others}`;
}

async function pendingFor(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<string> {
  const { store } = context;
  const [queues, workers] = await Promise.all([store.queues(signal), store.workers(signal)]);
  const queue = queues.find(({ name }) => name === job.queue);
  if (queue?.paused) return `queue ${job.queue} to be resumed: it is paused`;
  const outlooks = await store.outlook(job.id, signal);
  const open = outlooks.find(({ obstacle }) => obstacle === null);
  const ahead = async () => await store.countAhead(job.id, MAX_COUNTED, signal);
  const place = async () => `${placeOf(await ahead())} in queue ${job.queue}`;
  if (open !== undefined) return `a free slot: ${await place()}; ${nameOf(open)} has room for it now`;
  const unmet = unmetRequirement(job, workers);
  if (unmet !== null) return unmet;
  const kept = await keptForGangs(store, job.queue, signal);
  if (queue !== undefined && queue.maxRunning !== null && queue.running + kept >= queue.maxRunning) {
    const running = `${queue.running} of ${queue.maxRunning} run (max_running)`;
    const full = kept === 0 ? running : `${running}, and ${kept} are kept for gangs`;
    const before = await ahead();
    const ends = queue.running + kept - queue.maxRunning + 1 + before;
    const startsAt = await freeAt(context, { queue, ends }, signal);
    return `a place in queue ${job.queue}: ${full}, ${positionOf(before)}${startOf(startsAt)}`;
  }
  const full = await fullMeterOf(context, { job, queueRate: queue?.rate ?? null, kept }, signal);
  if (full !== null) return full;
  const left = queue === undefined ? null : await rateKept(store, { queue, kept }, signal);
  if (left !== null) return `${left}; ${positionOf(await ahead())}`;
  const short = capacityFor(job, { outlooks, workers });
  return short === null ? `a free slot: ${await place()}${busyOf(outlooks, workers)}` : `${short}; ${await place()}`;
}

/** The instant by which `ends` of the running jobs of a queue have ended. */
async function freeAt(
  { store }: SchedulerContext,
  { queue, ends }: { queue: QueueState; ends: number },
  signal: AbortSignal,
): Promise<number | null> {
  if (queue.running >= MAX_RUNNING) return null;
  const filter = { queue: queue.name, statuses: ['running'] as const };
  const running = await store.list(filter, { before: null, limit: MAX_RUNNING }, signal);
  return endOfSome(
    running.filter(({ workerId }) => workerId !== null),
    ends,
  );
}

/** How many jobs the first worker runs that could run this one. */
function busyOf(outlooks: readonly Outlook[], workers: readonly WorkerRow[]): string {
  const able = workers.find(({ id }) => id === outlooks[0]?.workerId);
  if (able === undefined) return '';
  const others = outlooks.length === 1 ? '' : `, and ${outlooks.length - 1} more could run it`;
  return `; ${nameOf({ workerId: able.id, workerName: able.name })} runs ${able.running} of ${able.slots}${others}`;
}

function placeOf(ahead: number): string {
  const many = ahead >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(ahead);
  return ahead === 0 ? 'it is next' : `${many} ${ahead === 1 ? 'job' : 'jobs'} before it`;
}

/** The resources that the job waits for; `null` if it can start somewhere as soon as there is a slot. */
function capacityFor(
  job: Job,
  { outlooks, workers }: { outlooks: readonly Outlook[]; workers: readonly WorkerRow[] },
): string | null {
  if (outlooks.length === 0 || outlooks.some(({ obstacle }) => obstacle === null || obstacle === 'slots')) return null;
  const own = workers.find(({ reserved }) => reserved?.jobId === job.id);
  const held = outlooks.find(({ obstacle }) => obstacle === 'reserved');
  if (own === undefined && held?.reservation != null) {
    const { jobId, startsAt } = held.reservation;
    return `${listOf(job.resources)} of a worker: what ${nameOf(held)} has free is reserved for job ${jobId}${reservedUntil(startsAt)}`;
  }
  const totals = new Map(workers.map(({ id, resources }) => [id, resources]));
  const shortages = outlooks.flatMap(({ workerId, workerName, free }) =>
    shortageOf(job, free, totals.get(workerId) ?? {}).map((short) => ({ ...short, workerId, workerName })),
  );
  const [nearest] = shortages.sort((a, b) => b.free - a.free);
  if (nearest === undefined) return `${listOf(job.resources)} of a worker: jobs before it take what is free`;
  const { name, free, total } = nearest;
  const inUse = `${listOf(job.resources)} of a worker: ${name} is in use, at most ${Math.max(free, 0)} of ${total} is free on ${nameOf(nearest)}`;
  if (own?.reserved == null) return inUse;
  return `${inUse}; what becomes free on ${nameOf({ workerId: own.id, workerName: own.name })} is reserved for it${reservedUntil(own.reserved.startsAt)}`;
}

/** The first resource of which too little is free. */
function shortageOf(
  { resources }: Job,
  free: Readonly<Record<string, number>>,
  total: Readonly<Record<string, number>>,
): { name: string; free: number; total: number }[] {
  const short = Object.entries(resources).find(([name, amount]) => amount > (free[name] ?? 0));
  if (short === undefined) return [];
  const [name] = short;
  return [{ name, free: free[name] ?? 0, total: total[name] ?? 0 }];
}

function nameOf({ workerId, workerName }: Pick<Outlook, 'workerId' | 'workerName'>): string {
  return `worker ${workerId} (${workerName})`;
}

function reservedUntil(startsAt: number | null): string {
  return startsAt === null ? ', expected to start when a run without a known end has ended' : startOf(startsAt);
}

/** The first requirement that no online worker meets; `null` if some worker can run the job. */
function unmetRequirement(job: Job, workers: readonly WorkerRow[]): string | null {
  const online = workers.filter(({ state }) => state === 'online');
  if (online.length === 0) return 'a worker: none is online';
  const lane = laneOf(job);
  const offers = online.map((worker) => ({ ...offerOf(worker), free: worker.resources }));
  if (offers.some((offer) => serves(offer, lane) && fits(lane, offer.free, 1) === 1)) return null;
  const largest = Object.keys(job.resources).map((name) => {
    return `${name} ${Math.max(...online.map(({ resources }) => resources[name] ?? 0))}`;
  });
  const steps: [string, (offer: Offer) => boolean][] = [
    [`a worker that serves queue ${job.queue}`, ({ queues }) => queues === null || queues.includes(job.queue)],
    [
      job.handler === null ? 'a worker that runs commands' : `a worker with handler ${job.handler}`,
      (offer) => (lane.kind === '' ? offer.commands : offer.handlers.includes(lane.kind)),
    ],
    ...lane.requires.map((tag): [string, (offer: Offer) => boolean] => [
      `a worker with tag ${tag}`,
      ({ tags }) => tags.includes(tag),
    ]),
    [
      `a worker with ${listOf(job.resources)} (the most that one has: ${largest.join(', ')})`,
      ({ free }) => fits(lane, free, 1) === 1,
    ],
  ];
  let able = offers;
  for (const [sentence, has] of steps) {
    able = able.filter(has);
    if (able.length === 0) return `${sentence}: none is online`;
  }
  return 'a worker that can run it: none is online';
}

function listOf(resources: Readonly<Record<string, number>>): string {
  return Object.entries(resources)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');
}
