/** What a waiting job waits for. */

import type { Waiting } from '../../api/waiting.ts';
import { endOfSome } from '../../core/capacity.ts';
import { isTerminal, type Job } from '../../core/job.ts';
import { fits, laneOf, type Offer, serves } from '../../core/lane.ts';
import { type Outlook, offerOf } from '../../core/outlook.ts';
import type { QueueState } from '../../core/queue.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { SchedulerContext } from '../context.ts';
import { fullMeterOf } from './full-meter.ts';
import { gangOf } from './gang-wait.ts';
import { instantOrNull, MAX_COUNTED, MAX_RUNNING } from './position.ts';
import { keptForGangs, rateKept } from './queue-room.ts';

/** `null` if the job is not waiting. */
export async function waitingFor(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<Waiting | null> {
  const gang = job.gang === null ? null : await gangOf(context, job, signal);
  if (gang !== null) return gang;
  switch (job.status) {
    case 'scheduled': {
      const at = new Date(job.dueAt).toISOString();
      if (job.durable?.suspendedAt != null) return await suspendedFor(context, job, job.durable.suspendedAt, signal);
      const hasRun = job.failures > 0 || job.snoozes > 0 || job.interruptions > 0;
      if (!hasRun) return { code: 'start_time', at };
      return { code: 'retry', at, failures: job.failures, max_attempts: job.maxAttempts };
    }
    case 'blocked':
      return await parentsOf(context, job, signal);
    case 'pending':
      return pendingFor(context, job, signal);
    case 'running':
      return job.cancelRequestedAt === null ? null : { code: 'stop', for_gang: false };
    default:
      return null;
  }
}

/** What its function waits for, the next first. */
async function suspendedFor(
  { store }: SchedulerContext,
  job: Job,
  since: number,
  signal: AbortSignal,
): Promise<Waiting> {
  const open = await store.openSteps(job.id, signal);
  const waits = open.map(({ name, kind, until, tries }) => ({ name, kind, until: instantOrNull(until), tries }));
  return { code: 'steps', since: new Date(since).toISOString(), at: new Date(job.dueAt).toISOString(), waits };
}

/** Names the first parent that has not ended. */
async function parentsOf(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<Waiting> {
  const parents = await context.store.read(
    job.dependsOn.map(({ jobId }) => jobId),
    signal,
  );
  const open = parents.filter(({ status }) => !isTerminal(status));
  const [first] = open;
  if (first === undefined) return { code: 'parents_ended' };
  const { id, name, stepKey, status } = first;
  return { code: 'parent', job: String(id), name: stepKey ?? name, status, others: open.length - 1 };
}

async function pendingFor(context: SchedulerContext, job: Job, signal: AbortSignal): Promise<Waiting> {
  const { store } = context;
  const [queues, workers] = await Promise.all([store.queues(signal), store.workers(signal)]);
  const queue = queues.find(({ name }) => name === job.queue);
  if (queue?.paused) return { code: 'paused', queue: job.queue };
  const outlooks = await store.outlook(job.id, signal);
  const count = async () => await store.countAhead(job.id, MAX_COUNTED, signal);
  const slot = async (outlook: Outlook | undefined): Promise<Waiting> => {
    const worker = outlook === undefined ? null : loadOf(outlook, workers);
    return { code: 'slot', queue: job.queue, ahead: await count(), worker, others: outlooks.length - 1 };
  };
  const open = outlooks.find(({ obstacle }) => obstacle === null);
  if (open !== undefined) return await slot(open);
  const unmet = unmetRequirement(job, workers);
  if (unmet !== null) return unmet;
  const kept = await keptForGangs(store, job.queue, signal);
  if (queue !== undefined && queue.maxRunning !== null && queue.running + kept >= queue.maxRunning) {
    const { running, maxRunning: max } = queue;
    const ahead = await count();
    const startsAt = await freeAt(context, { queue, ends: running + kept - max + 1 + ahead }, signal);
    return { code: 'max_running', queue: job.queue, running, max, kept, ahead, starts_at: instantOrNull(startsAt) };
  }
  const full = await fullMeterOf(context, { job, queueRate: queue?.rate ?? null, kept }, signal);
  if (full !== null) return full;
  const left = queue === undefined ? null : await rateKept(store, { queue, kept }, signal);
  if (left !== null) return { code: 'rate_kept', queue: job.queue, left, ahead: await count() };
  const short = capacityFor(job, { outlooks, workers });
  if (short === null) return await slot(outlooks[0]);
  return { code: 'resources', queue: job.queue, ahead: await count(), resources: { ...job.resources }, ...short };
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

type Wait<C extends Waiting['code']> = Extract<Waiting, { code: C }>;

function loadOf({ workerId, obstacle }: Outlook, workers: readonly WorkerRow[]): Wait<'slot'>['worker'] {
  const row = workers.find(({ id }) => id === workerId);
  if (row === undefined) return null;
  const { name, running, slots } = row;
  return { id: String(workerId), name, running, slots, is_free: obstacle === null };
}

/** The resources that the job waits for; `null` if it can start somewhere as soon as there is a slot. */
function capacityFor(
  job: Job,
  { outlooks, workers }: { outlooks: readonly Outlook[]; workers: readonly WorkerRow[] },
): Pick<Wait<'resources'>, 'short' | 'reserved'> | null {
  if (outlooks.length === 0 || outlooks.some(({ obstacle }) => obstacle === null || obstacle === 'slots')) return null;
  const own = workers.find(({ reserved }) => reserved?.jobId === job.id);
  const held = outlooks.find(({ obstacle }) => obstacle === 'reserved');
  if (own === undefined && held?.reservation != null) {
    const { jobId, startsAt } = held.reservation;
    const reserved = { for_job: String(jobId), starts_at: instantOrNull(startsAt) };
    return { short: null, reserved: { id: String(held.workerId), name: held.workerName, ...reserved } };
  }
  const totals = new Map(workers.map(({ id, resources }) => [id, resources]));
  const [short = null] = outlooks
    .flatMap(({ workerId, workerName, free }) => {
      const found = shortageOf(job, free, totals.get(workerId) ?? {});
      return found === null ? [] : [{ id: String(workerId), name: workerName, ...found }];
    })
    .sort((a, b) => b.free - a.free);
  if (short === null || own?.reserved == null) return { short, reserved: null };
  const { jobId, startsAt } = own.reserved;
  const reserved = { for_job: String(jobId), starts_at: instantOrNull(startsAt) };
  return { short, reserved: { id: String(own.id), name: own.name, ...reserved } };
}

/** The first resource of which too little is free. */
function shortageOf(
  { resources }: Job,
  free: Readonly<Record<string, number>>,
  total: Readonly<Record<string, number>>,
): { resource: string; free: number; total: number } | null {
  const resource = Object.keys(resources).find((name) => (resources[name] ?? 0) > (free[name] ?? 0));
  if (resource === undefined) return null;
  return { resource, free: Math.max(free[resource] ?? 0, 0), total: total[resource] ?? 0 };
}

/** The first requirement that no online worker meets; `null` if some worker can run the job. */
function unmetRequirement(job: Job, workers: readonly WorkerRow[]): Wait<'worker'> | null {
  const online = workers.filter(({ state }) => state === 'online');
  const most = Object.keys(job.resources).map((name) => {
    return [name, Math.max(0, ...online.map(({ resources }) => resources[name] ?? 0))];
  });
  const lack = (lacks: Wait<'worker'>['lacks'], what: string | null = null): Wait<'worker'> => {
    return { code: 'worker', lacks, what, resources: { ...job.resources }, most: Object.fromEntries(most) };
  };
  if (online.length === 0) return lack('worker');
  const lane = laneOf(job);
  const offers = online.map((worker) => ({ ...offerOf(worker), free: worker.resources }));
  if (offers.some((offer) => serves(offer, lane) && fits(lane, offer.free, 1) === 1)) return null;
  const steps: [Wait<'worker'>, (offer: Offer) => boolean][] = [
    [lack('queue', job.queue), ({ queues }) => queues === null || queues.includes(job.queue)],
    [
      job.handler === null ? lack('commands') : lack('handler', job.handler),
      (offer) => (lane.kind === '' ? offer.commands : offer.handlers.includes(lane.kind)),
    ],
    ...lane.requires.map((tag): [Wait<'worker'>, (offer: Offer) => boolean] => [
      lack('tag', tag),
      ({ tags }) => tags.includes(tag),
    ]),
    [lack('resources'), ({ free }) => fits(lane, free, 1) === 1],
  ];
  let able = offers;
  for (const [unmet, has] of steps) {
    able = able.filter(has);
    if (able.length === 0) return unmet;
  }
  return lack('all');
}
