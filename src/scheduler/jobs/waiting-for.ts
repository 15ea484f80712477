/** Describes in one sentence what a waiting job waits for. */

import { fitsIdle, type Gang, gangTag } from '../../core/gang.ts';
import { isTerminal, type Job } from '../../core/job.ts';
import { fits, laneOf, type Offer, serves } from '../../core/lane.ts';
import { type Outlook, offerOf } from '../../core/outlook.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { SchedulerContext } from '../context.ts';
import { fullMeterOf } from './full-meter.ts';

const MAX_COUNTED = 10_000;

/** `null` if the job is not waiting. */
export async function waitingFor(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<string | null> {
  switch (job.status) {
    case 'scheduled':
      return job.failures > 0 || job.snoozes > 0 || job.interruptions > 0
        ? `its next attempt at ${new Date(job.dueAt).toISOString()} (${job.failures} of ${job.maxAttempts} failures so far)`
        : `its time: due at ${new Date(job.dueAt).toISOString()}`;
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
  if (job.gang !== null) return await placesFor(context, job as Job & { gang: Gang }, workers, signal);
  const unmet = unmetRequirement(job, workers);
  if (unmet !== null) return unmet;
  if (queue !== undefined && queue.maxRunning !== null && queue.running >= queue.maxRunning) {
    return `a place in queue ${job.queue}: ${queue.running} of ${queue.maxRunning} run (max_running)`;
  }
  const full = await fullMeterOf(context, { job, queueRate: queue?.rate ?? null }, signal);
  if (full !== null) return full;
  const outlooks = await store.outlook(job.id, signal);
  const inTheWay = capacityFor(job, { outlooks, workers });
  if (inTheWay !== null) return inTheWay;
  const ahead = await store.countAhead(job.id, MAX_COUNTED, signal);
  const many = ahead >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(ahead);
  const place = ahead === 0 ? 'it is next' : `${many} ${ahead === 1 ? 'job' : 'jobs'} before it`;
  const open = outlooks.find(({ verdict }) => verdict === 'start');
  return `a free slot: ${place}${open === undefined ? '' : `; ${nameOf(open)} has room for it now`}`;
}

/** What the gang of a job waits for. */
async function placesFor(
  { store }: SchedulerContext,
  job: Job & { gang: Gang },
  workers: readonly WorkerRow[],
  signal: AbortSignal,
): Promise<string> {
  const { id, size } = job.gang;
  const places = (await store.places(signal)).filter(({ gangId }) => gangId === id);
  const open = places.find(({ accepted }) => !accepted);
  if (open !== undefined) {
    const held = places.filter(({ accepted }) => accepted).length;
    const name = workers.find(({ id: workerId }) => workerId === open.workerId)?.name ?? 'gone';
    return `the places of its gang: ${held} of ${size} are held; ${nameOf({ workerId: open.workerId, workerName: name })} has no room yet`;
  }
  if (places.length > 0) return 'its worker to start it: all places of its gang are held';
  const filter = { tags: [gangTag(id)], statuses: ['pending' as const] };
  const waiting = await store.count(filter, size, signal);
  if (waiting < size) return `its gang: ${waiting} of ${size} members wait; cancel it to end the others, or retry them`;
  const gang = { gang: job.gang, priority: job.priority, dueAt: job.dueAt, lane: laneOf(job), jobIds: [] };
  if (!fitsIdle(gang, workers)) {
    return `places for a gang of ${size}: all online workers together have fewer, even when idle`;
  }
  return `places for a gang of ${size}: the workers are busy, or another gang comes first`;
}

/** The resources that the job waits for; `null` if it can start somewhere as soon as there is a slot. */
function capacityFor(
  job: Job,
  { outlooks, workers }: { outlooks: readonly Outlook[]; workers: readonly WorkerRow[] },
): string | null {
  if (outlooks.length === 0 || outlooks.some(({ verdict }) => verdict === 'start' || verdict === 'slots')) return null;
  const own = workers.find(({ reserved }) => reserved?.jobId === job.id);
  const held = outlooks.find(({ verdict }) => verdict === 'reserved');
  if (own === undefined && held?.reservation != null) {
    const { jobId, startsAt } = held.reservation;
    return `${listOf(job.resources)} of a worker: what ${nameOf(held)} has free is reserved for job ${jobId}, ${startOf(startsAt)}`;
  }
  const totals = new Map(workers.map(({ id, resources }) => [id, resources]));
  const shortages = outlooks.flatMap(({ workerId, free }) => shortageOf(job, free, totals.get(workerId) ?? {}));
  const [nearest] = shortages.sort((a, b) => b.free - a.free);
  if (nearest === undefined) return `${listOf(job.resources)} of a worker: jobs before it take what is free`;
  const { name, free, total } = nearest;
  const inUse = `${listOf(job.resources)} of a worker: ${name} is in use, at most ${Math.max(free, 0)} of ${total} is free`;
  if (own?.reserved == null) return inUse;
  return `${inUse}; what becomes free on ${nameOf({ workerId: own.id, workerName: own.name })} is reserved for it, ${startOf(own.reserved.startsAt)}`;
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

function startOf(startsAt: number | null): string {
  if (startsAt === null) return 'expected to start when a run without a known end has ended';
  return `expected to start by ${new Date(startsAt).toISOString()}`;
}

/** The first requirement that no online worker meets; `null` if some worker can run the job. */
function unmetRequirement(job: Job, workers: readonly WorkerRow[]): string | null {
  const online = workers.filter(({ state }) => state === 'online');
  if (online.length === 0) return 'a worker: none is online';
  const lane = laneOf(job);
  const offers = online.map((worker) => ({ ...offerOf(worker), free: worker.resources }));
  if (offers.some((offer) => serves(offer, lane) && fits(lane, offer.free, 1) === 1)) return null;
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
    [`a worker with ${listOf(job.resources)}`, ({ free }) => fits(lane, free, 1) === 1],
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
