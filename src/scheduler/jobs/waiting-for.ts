/** Describes in one sentence what a waiting job waits for. */

import { isTerminal, type Job } from '../../core/job.ts';
import { fits, laneOf, type Offer, serves } from '../../core/lane.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { SchedulerContext } from '../context.ts';

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
  const [queues, workers] = await Promise.all([context.store.queues(signal), context.store.workers(signal)]);
  const queue = queues.find(({ name }) => name === job.queue);
  if (queue?.paused) return `queue ${job.queue} to be resumed: it is paused`;
  const unmet = unmetRequirement(job, workers);
  if (unmet !== null) return unmet;
  if (queue !== undefined && queue.maxRunning !== null && queue.running >= queue.maxRunning) {
    return `a place in queue ${job.queue}: ${queue.running} of ${queue.maxRunning} run (max_running)`;
  }
  const inUse = await resourcesInUse(context, { job, workers }, signal);
  if (inUse !== null) return inUse;
  const ahead = await context.store.countAhead(job.id, MAX_COUNTED, signal);
  if (ahead === 0) return 'a free slot: it is next';
  const many = ahead >= MAX_COUNTED ? `${MAX_COUNTED} or more` : String(ahead);
  return `a free slot: ${many} ${ahead === 1 ? 'job' : 'jobs'} before it`;
}

/** How many running jobs are added up. */
const MAX_HELD = 2_000;

/**
 * What the job needs of the workers that could run it and that their running jobs leave too little of; `null`: nothing. If
 * more jobs run than are added up, less is free than it seems, so what is said to be in use is.
 */
async function resourcesInUse(
  { store }: SchedulerContext,
  { job, workers }: { job: Job; workers: readonly WorkerRow[] },
  signal: AbortSignal,
): Promise<string | null> {
  const lane = laneOf(job);
  const needed = Object.entries(job.resources).filter(([, amount]) => amount > 0);
  if (needed.length === 0) return null;
  const able = workers.filter(
    (worker) => worker.state === 'online' && serves(offerOf(worker), lane) && fits(lane, worker.resources, 1) > 0,
  );
  const running = await store.list({ statuses: ['running'] }, { before: null, limit: MAX_HELD }, signal);
  const heldBy = Map.groupBy(running, ({ workerId }) => workerId);
  let most: { name: string; free: number; of: number } | null = null;
  for (const { id, resources } of able) {
    const held = heldBy.get(id) ?? [];
    const free = (name: string) =>
      held.reduce((left, other) => left - (other.resources[name] ?? 0), resources[name] ?? 0);
    const short = needed.find(([name, amount]) => free(name) < amount);
    if (short === undefined) return null;
    const [name] = short;
    if (most === null || free(name) > most.free) most = { name, free: free(name), of: resources[name] ?? 0 };
  }
  if (most === null) return null;
  const { name, free, of } = most;
  return `${listOf(job.resources)} of a worker: ${name} is in use, at most ${Math.max(free, 0)} of ${of} is free`;
}

/** The first requirement that no online worker meets; `null` if some worker can run the job. */
function unmetRequirement(job: Job, workers: readonly WorkerRow[]): string | null {
  const online = workers.filter(({ state }) => state === 'online');
  if (online.length === 0) return 'a worker: none is online';
  const lane = laneOf(job);
  const offers = online.map(offerOf);
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

function offerOf(worker: WorkerRow): Offer {
  const { queues, commands, handlers, tags, resources } = worker;
  return { queues, commands, handlers, tags, free: resources };
}
